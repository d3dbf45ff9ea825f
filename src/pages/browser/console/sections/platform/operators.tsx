import { useState } from 'react'
import type { Operator, OperatorWithSecret } from '../../../../../operators/schema'
import { Actions } from '../../shell/actions'
import { Form } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Chip, Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, Time } from '../../ui/format'

const STATES = { active: 'good', expired: 'off', revoked: 'off' } as const
const ROLES = [
  ['viewer', 'viewer: reads facts'],
  ['support', 'support: reads content, helps people in'],
  ['reviewer', 'reviewer: reviews skills'],
  ['billing', 'billing: credit, tiers, limits'],
  ['admin', 'admin: everything'],
] as const

const State = ({ status }: Operator) => <Chip state={STATES[status]}>{status}</Chip>

const Secret = ({ made }: { made: OperatorWithSecret }) => (
  <>
    <p>Store this key now. It is not shown again.</p>
    <Code text={made.key} label="key" />
  </>
)

function OperatorBody({ row: it }: { row: Operator }) {
  const [made, setMade] = useState<OperatorWithSecret | null>(null)
  return (
    <>
      {made && <Secret made={made} />}
      {it.status === 'active' && (
        <Actions
          touches={['/operators']}
          role="admin"
          actions={[
            {
              label: 'Rotate…',
              path: `/operators/${it.id}/rotate`,
              ask: 'It gets a new secret. The old one stops at once.',
              done: setMade,
            },
            {
              label: 'Revoke…',
              method: 'DELETE',
              path: `/operators/${it.id}`,
              danger: true,
              ask: 'It is refused at once. This cannot be undone.',
            },
          ]}
        />
      )}
      <Facts
        facts={[
          ['State', <State key="state" {...it} />],
          ['Role', it.role],
          ['Begins with', <code key="prefix">{it.prefix}…</code>],
          ['Made', <Time key="made" at={it.created} />],
          ['Last used', it.last_used_at ? <Ago key="used" at={it.last_used_at} /> : 'never'],
          ['Expires', it.expires_at ? <Time key="expires" at={it.expires_at} /> : 'never'],
          ['Id', <Id key="id" id={it.id} />],
        ]}
      />
    </>
  )
}

function NewKey({ close }: { close(): void }) {
  const [made, setMade] = useState<OperatorWithSecret | null>(null)
  if (made) return <Secret made={made} />
  return (
    <Form
      fields={[
        { name: 'name', label: 'Name', required: true },
        { name: 'role', label: 'Role', kind: 'choice', choices: ROLES },
      ]}
      method="POST"
      path="/operators"
      touches={['/operators']}
      verb="Create operator key"
      onCancel={close}
      onDone={setMade}
    />
  )
}

export const Operators = defineScreen<Operator>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/operators', rows: 'operators' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'name', head: 'Name', cell: ({ name }) => name, main: true },
    { key: 'role', head: 'Role', cell: ({ role }) => role, main: true, width: '120px' },
    { key: 'state', head: 'State', cell: State, main: true, width: '120px' },
    { key: 'prefix', head: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
    {
      key: 'used',
      head: 'Last used',
      cell: ({ last_used_at }) => (last_used_at ? <Ago at={last_used_at} /> : 'never'),
      number: true,
      main: true,
      width: '128px',
    },
  ],
  empty: {
    text: 'No operator keys. One lets an operator work from another machine.',
    command: 'svc-admin operators add NAME --role ROLE',
  },
  detail: { titleOf: ({ name }) => name, body: OperatorBody },
  create: { label: 'Create operator key', role: 'admin', form: NewKey },
})

type Setting = { name: string; value: string; origin: string; env: string; default: string; about: string }

const SettingBody = ({ row: it }: { row: Setting }) => (
  <>
    <p>{it.about}</p>
    <Facts
      facts={[
        ['Value', <code key="value">{it.value || 'empty'}</code>],
        ['Comes from', it.origin],
        ['Default', <code key="default">{it.default || 'empty'}</code>],
        ['Set it with', <code key="env">{it.env}</code>],
      ]}
    />
  </>
)

/** Every setting and its origin. They can be changed only in the environment or svc.server.json. */
export const Configuration = defineScreen<Setting>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/config', rows: 'settings' },
  idOf: ({ name }) => name,
  columns: [
    { key: 'name', head: 'Setting', cell: ({ name }) => name, main: true, width: 'minmax(0, 1.2fr)' },
    { key: 'value', head: 'Value', cell: ({ value }) => <code title={value}>{value || '–'}</code>, main: true },
    { key: 'from', head: 'Comes from', cell: ({ origin }) => origin, main: true, width: '136px' },
    { key: 'about', head: 'What it does', cell: ({ about }) => about, width: 'minmax(0, 2.4fr)' },
  ],
  filters: [
    {
      name: 'q',
      label: 'Setting',
      match: ({ name, env, about }, text) => `${name} ${env} ${about}`.toLowerCase().includes(text.toLowerCase()),
    },
    {
      name: 'set',
      label: 'Set',
      values: [
        ['yes', 'not the default'],
        ['no', 'the default'],
      ],
      match: ({ origin }, wanted) => (origin !== 'default') === (wanted === 'yes'),
    },
  ],
  empty: { text: 'No settings.' },
  detail: { titleOf: ({ name }) => name, body: SettingBody },
})
