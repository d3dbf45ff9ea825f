import type { Operator, OperatorWithSecret } from '../../../../../operators/schema'
import { deletion } from '../../shell/actions'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column } from '../../ui/columns'
import { Chip, Code, Id } from '../../ui/controls'
import { field } from '../../ui/fields'
import { Ago, Time } from '../../ui/format'

const STATES = { active: 'good', expired: 'off', revoked: 'off' } as const
const ROLES = {
  viewer: 'viewer: reads facts',
  support: 'support: reads content, helps people in',
  reviewer: 'reviewer: reviews skills',
  billing: 'billing: credit, tiers, limits',
  admin: 'admin: everything',
} as const

const State = ({ status }: Operator) => <Chip state={STATES[status]}>{status}</Chip>

const secret = ({ key }: OperatorWithSecret) => (
  <>
    <p>Store this key now. It is not shown again.</p>
    <Code text={key} label="key" />
  </>
)

export const Operators = defineScreen<Operator>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/operators', rows: 'operators' },
  columns: [
    column('name', 'Name', { main: true }),
    column('role', 'Role', { main: true, width: '120px' }),
    column('state', 'State', { cell: State, main: true, width: '120px' }),
    column('prefix', 'Prefix', { cell: ({ prefix }) => <code>{prefix}…</code> }),
    agoColumn('used', 'Last used', ({ last_used_at }) => last_used_at),
  ],
  empty: {
    text: 'No operator keys. One lets an operator work from another machine.',
    command: 'svc-admin operators add NAME --role viewer',
  },
  detail: {
    titleOf: ({ name }) => name,
    actions: ({ id, status }) => {
      const rotation = 'It gets a new secret. The old one stops at once.'
      const rotate = { label: 'Rotate…', path: `/operators/${id}/rotate`, ask: rotation, shows: secret }
      const revoke = deletion(`/operators/${id}`, 'It is refused at once. This cannot be undone.', undefined, 'Revoke…')
      return { role: 'admin', actions: status === 'active' ? [rotate, revoke] : [] }
    },
    facts: (it) => ({
      State: <State {...it} />,
      Role: it.role,
      Prefix: <code>{it.prefix}…</code>,
      Created: <Time at={it.created} />,
      'Last used': it.last_used_at ? <Ago at={it.last_used_at} /> : 'never',
      Expires: it.expires_at ? <Time at={it.expires_at} /> : 'never',
      Id: <Id id={it.id} />,
    }),
  },
  create: {
    label: 'Create operator key',
    role: 'admin',
    form: {
      fields: [field('name', 'Name', { required: true }), field('role', 'Role', { kind: 'choice', choices: ROLES })],
      after: secret,
    },
  },
})

type Setting = { name: string; value: string; origin: string; env: string; default: string; about: string }

/** Every setting and its origin. They can be changed only in the environment or svc.server.json. */
export const Configuration = defineScreen<Setting>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/config', rows: 'settings' },
  idOf: ({ name }) => name,
  columns: [
    column('name', 'Setting', { main: true, width: 'minmax(0, 1.2fr)' }),
    column('value', 'Value', { cell: ({ value }) => <code title={value}>{value || '–'}</code>, main: true }),
    column('from', 'Comes from', { cell: ({ origin }) => origin, main: true, width: '136px' }),
    column('about', 'What it does', { width: 'minmax(0, 2.4fr)' }),
  ],
  filters: [
    { name: 'q', label: 'Setting', match: ['name', 'env', 'about'] },
    {
      name: 'set',
      label: 'Set',
      values: { yes: 'not the default', no: 'the default' },
      match: ({ origin }, wanted) => (origin !== 'default') === (wanted === 'yes'),
    },
  ],
  empty: { text: 'No settings.' },
  detail: {
    titleOf: ({ name }) => name,
    facts: (it) => ({
      'What it does': it.about,
      Value: <code>{it.value || 'empty'}</code>,
      'Comes from': it.origin,
      Default: <code>{it.default || 'empty'}</code>,
      'Set it with': <code>{it.env}</code>,
    }),
  },
})
