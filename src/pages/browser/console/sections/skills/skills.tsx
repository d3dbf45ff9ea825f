import type { SkillEntry } from '../../../../../skills/schema'
import { defineScreen, type Screen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { useHanded } from '../../shell/value'
import { chipColumn, column } from '../../ui/columns'
import { type FormField, field } from '../../ui/fields'
import { Ago, plural, whole } from '../../ui/format'
import type { Column } from '../../ui/table'
import { SkillBody } from './detail'
import { Review } from './review'

const ORDERS = { installs: 'most installed', rating: 'best rated', newest: 'newest' }
const CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const

const name: Column<SkillEntry> = column('name', 'Name', { main: true, width: 'minmax(0, 1.2fr)' })
const about: Column<SkillEntry> = column('about', 'Description', {
  cell: ({ description }) => description ?? '–',
  width: 'minmax(0, 2.4fr)',
})
const rating: Column<SkillEntry> = column('rating', 'Rating', {
  cell: ({ averageRating }) => (averageRating === null ? '–' : averageRating.toFixed(1)),
  number: true,
  main: true,
  width: '80px',
})
const installs: Column<SkillEntry> = column('installs', 'Installs', {
  cell: ({ installCount }) => whole(installCount),
  number: true,
  main: true,
  width: '88px',
})
const STATES = {
  draft: ['off', 'draft'],
  pending_review: ['wait', 'waits for review'],
  approved: ['good', 'approved'],
  rejected: ['bad', 'rejected'],
  suspended: ['bad', 'suspended'],
} as const

const NEW: readonly FormField[] = [
  field('name', 'Name', { required: true }),
  field('slug', 'Short name', { required: true, help: 'Lower-case letters, digits and hyphens.' }),
  field('category', 'Category', { kind: 'choice', choices: CATEGORIES }),
  field('description', 'What it does, in a sentence'),
  field('system_prompt_ext', 'Instructions', { kind: 'area', rows: 10, required: true }),
]
/** Makes a draft of a prompt, which the playground may pass. */
const useNewSkill = () => ({
  ...{ fields: NEW, path: '/skills/create', touches: ['/skills'], verb: 'Create draft' },
  values: useHanded() ?? {},
})

const Tile = ({ name, description, category, installCount, averageRating }: SkillEntry) => (
  <>
    <b>{name}</b>
    <span className="about">{description}</span>
    <small>
      {category}, {plural(installCount, 'install')}
      {averageRating !== null && `, rated ${averageRating.toFixed(1)}`}
    </small>
  </>
)

type Empty = Screen<SkillEntry>['empty']
const listOf = (filter: 'marketplace' | 'installed' | 'mine', empty: Empty, columns: readonly Column<SkillEntry>[]) =>
  defineScreen<SkillEntry>('skills', 'Skills', {
    list: { path: '/skills', rows: 'skills', query: { filter } },
    columns,
    ...(filter === 'marketplace' ? { tile: Tile, isGallery: true } : {}),
    filters: [
      { name: 'q', label: 'Name, description or keyword' },
      { name: 'category', label: 'Category', values: CATEGORIES },
      ...(filter === 'marketplace' ? [{ name: 'sort', label: 'Order', values: ORDERS }] : []),
    ],
    empty,
    detail: { path: (id) => `/skills/${id}`, titleOf: (it) => it.name, body: SkillBody },
    create: { label: 'New skill', permission: 'manageSkills', useForm: useNewSkill },
  })

const NOTHING: Empty = {
  text: 'Nothing installed. A skill gives answers instructions, knowledge and tools.',
  link: { text: 'Browse the market', section: 'skills?tab=market' },
}
const Market = listOf('marketplace', { text: 'The market is empty.' }, [
  name,
  about,
  column('category', 'Category', { main: true, width: '112px' }),
  installs,
  rating,
])
const Installed = listOf('installed', NOTHING, [
  name,
  about,
  chipColumn('on', 'State', ({ enabled }) => [enabled ? 'good' : 'off', enabled ? 'on' : 'off'], { width: '96px' }),
  column('version', 'Version', { main: true, width: '88px' }),
  column('since', 'Installed', {
    cell: ({ installedAt }) => (installedAt ? <Ago at={installedAt} /> : '–'),
    number: true,
    main: true,
    width: '128px',
  }),
])
const Mine = listOf('mine', { text: 'You have written no skill yet.' }, [
  name,
  about,
  chipColumn('status', 'State', ({ reviewStatus }) => STATES[reviewStatus], { width: '164px' }),
  column('version', 'Version', { main: true, width: '88px' }),
  installs,
  rating,
])

export default defineTabs('skills', [
  { id: 'installed', label: 'Installed', screen: Installed },
  { id: 'market', label: 'Market', screen: Market },
  { id: 'mine', label: 'Mine', screen: Mine },
  { id: 'review', label: 'Submissions', screen: Review },
])
