import { REVIEW_STATUSES } from '../../src/skills/schema'
import { apiOf, assertOperator } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { choice, flag, text } from '../words'
import { KEY_IN_USE, skillArgument, skillColumns } from './skills-columns'

const reading = {
  apis: ['operator', 'tenant'],
  impact: 'read',
} as const

const CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const

const listSkills = defineCommand({
  ...reading,
  path: 'skills list',
  summary: 'List skills',
  about:
    "On the server's machine it lists every skill, newest first, or with --org those of one owner. Over --url it lists the store as the key in use sees it.",
  examples: [
    'skills list',
    'skills list --status suspended --json',
    'skills list --installed --key ci',
    'skills list --org acme --installed',
  ],
  exits: [3],
  columns: skillColumns,
  watchable: true,
  flags: {
    installed: flag('skills installed by the owner of --key or --org, or over --url of the key in use'),
    key: text('KEY', 'with --installed: for the owner of this key, by id, prefix or name; for operators only'),
    category: choice(CATEGORIES, 'only skills of this category'),
    status: choice(REVIEW_STATUSES, 'only skills in this state; for operators only'),
    ...pageFlags,
  },
  async run(shell, { installed, key, category, status, ...paging }) {
    const filter = await filterOf(shell, { installed: installed || undefined, key, category, status })
    const page = async (input: PageQuery) => {
      const { api } = await apiOf(shell)
      const found = expectData(await api.skills.get({ query: { ...input, ...filter } as never }))
      return { items: found.skills, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns: skillColumns, empty: 'No skills.' })
  },
})

type Filter = { installed: true | undefined; key: string | undefined; category?: string; status?: string }

/** The query for either API. @throws CommandFailed 2 for what only operators may ask, and for what says too little */
async function filterOf(shell: Shell, { installed, key, status, category }: Filter): Promise<object> {
  const { isOperator, ownerFilter } = await apiOf(shell)
  const { org: owner } = shell.globals
  if (!isOperator) {
    assertOperator(isOperator, key !== undefined, KEY_IN_USE)
    assertOperator(isOperator, Boolean(status || owner), '--status and --org are for operators.')
    return given({ filter: installed ? 'installed' : 'marketplace', category })
  }
  if (installed && owner === undefined && key === undefined)
    throw usageFailure('--installed needs an owner.', 'add --key KEY, or --org NAME')
  if (key !== undefined && !installed) throw usageFailure('--key works only with --installed.', 'add --installed')
  return given({ installed, key, status, category, ...ownerFilter })
}

const given = (words: object): object =>
  Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined))

const getSkill = defineCommand({
  ...reading,
  path: 'skills get',
  summary: 'Show one skill',
  about: "--json prints everything about it. On the server's machine this includes its manifest.",
  examples: ['skills get email-drafter', 'skills get email-drafter --json'],
  exits: [3],
  columns: skillColumns,
  args: skillArgument,
  async run(shell, { skill }) {
    shell.print.item(expectData(await (await skillOver(shell, skill)).one.get()), skillColumns)
  },
})

const versionColumns = [
  column('id', 'ID'),
  column('version', 'VERSION'),
  column('status', 'STATUS'),
  column('changelog', 'CHANGES', { wide: true }),
  column('createdAt', 'MADE', { kind: 'time' }),
]

const listVersions = defineCommand({
  ...reading,
  path: 'skills versions',
  summary: 'List the versions of a skill, newest first',
  about: 'Lists current and earlier published versions. Only the author and operators see withdrawn ones.',
  examples: ['skills versions email-drafter', 'skills versions email-drafter --json'],
  exits: [3],
  columns: versionColumns,
  args: skillArgument,
  async run(shell, { skill }) {
    const { versions } = expectData(await (await skillOver(shell, skill)).one.versions.get())
    shell.print.list(versions, versionColumns, 'It has no published version.')
  },
})

const reviewColumns = [
  column('id', 'ID'),
  column('rating', 'STARS', { kind: 'number' }),
  column('body', 'TEXT'),
  column('authorUserId', 'USER', { wide: true }),
  column('createdAt', 'WRITTEN', { kind: 'time' }),
]

const listReviews = defineCommand({
  ...reading,
  path: 'skills reviews',
  summary: 'List the reviews of a skill, newest first',
  about: 'Each person has one review, from one star to five.',
  examples: ['skills reviews email-drafter', 'skills reviews email-drafter --all --json'],
  exits: [3],
  columns: reviewColumns,
  args: skillArgument,
  flags: pageFlags,
  async run(shell, { skill, ...paging }) {
    const { one } = await skillOver(shell, skill)
    const page = async (query: PageQuery) => {
      const found = expectData(await one.reviews.get({ query }))
      return { items: found.reviews, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns: reviewColumns, empty: 'It has no reviews.' })
  },
})

/** One skill, by id or slug. */
async function skillOver(shell: Shell, ref: string) {
  const { api } = await apiOf(shell)
  return { one: api.skills({ ref: encodeURIComponent(ref) }) }
}

export const skillReadCommands = [listSkills, getSkill, listVersions, listReviews]
