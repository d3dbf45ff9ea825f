import type { ApiKey } from '../../../../../accounts/keys/schema'
import { defineScreen } from '../../shell/screen'
import { agoColumn, moneyColumn } from '../../ui/columns'
import { Bar } from '../../ui/controls'
import { money } from '../../ui/format'
import { KeySpending, KeyState, keyActions, keyFacts } from './detail'
import { useNewKey } from './new'

function Spent({ spent_month_cents: spent, monthly_cap_cents: cap }: ApiKey) {
  if (cap === null) return <>{money(spent)}</>
  return (
    <span className="spent">
      {money(spent)} / {money(cap)}
      <Bar used={spent} of={cap} label={`${money(spent)} of ${money(cap)} this month`} />
    </span>
  )
}

export default defineScreen<ApiKey>('keys', 'Keys', {
  list: {
    path: '/keys',
    rows: 'keys',
    query: ({ looksAt }) => {
      const [kind, id] = looksAt?.split(':') ?? []
      return kind ? { [kind]: id } : {}
    },
    isOf: ({ org_id }, { id, looksAt }) => looksAt !== undefined || org_id === id,
  },
  columns: [
    { key: 'name', head: 'Name', main: true, width: 'minmax(140px, 1.4fr)', sort: true },
    { key: 'prefix', head: 'Prefix', cell: ({ prefix }) => <code>{prefix}…</code>, width: 'minmax(150px, 1fr)' },
    { key: 'status', head: 'Status', cell: KeyState, main: true, width: '132px', sort: ({ status }) => status },
    { key: 'scopes', head: 'Scopes', cell: ({ scopes }) => (scopes.length === 5 ? 'everything' : scopes.join(', ')) },
    { key: 'tier', head: 'Tier', width: '96px', sort: true },
    {
      key: 'spent',
      head: 'This month',
      cell: Spent,
      main: true,
      number: true,
      width: 'minmax(130px, 1fr)',
      sort: (key) => key.spent_month_cents,
    },
    agoColumn('used', 'Last used', ({ last_used_at }) => last_used_at, { width: '124px' }),
    moneyColumn('today', 'Today', ({ spent_today_cents }) => spent_today_cents, { extra: true }),
    agoColumn('made', 'Created', ({ created }) => created, { main: false, number: false, extra: true }),
    agoColumn('expires', 'Expires', ({ expires_at }) => expires_at, { main: false, number: false, extra: true }),
    {
      key: 'bindings',
      head: 'Bound to',
      cell: ({ routing_preference_id: preference, guardrail_policy_id: policy }) =>
        [preference && 'preference', policy && 'policy'].filter(Boolean).join(', ') || 'nothing',
      extra: true,
    },
  ],
  filters: [
    {
      name: 'q',
      label: 'Name or prefix',
      match: ({ name, prefix }, text) => `${name} ${prefix}`.toLowerCase().includes(text.toLowerCase()),
    },
    {
      name: 'status',
      label: 'Status',
      values: { active: 'active', rotating: 'rotating', revoked: 'revoked or expired' },
      match: ({ status }, wanted) => status === wanted,
    },
    {
      name: 'may',
      label: 'Scopes',
      hint: 'Scope, such as completions',
      match: ({ scopes }, wanted) => scopes.some((scope) => scope.includes(wanted.toLowerCase())),
    },
    {
      name: 'cap',
      label: 'Cap',
      values: { near: '80 % used or more', none: 'without a cap' },
      match: ({ monthly_cap_cents: cap, spent_month_cents: spent }, wanted) =>
        wanted === 'none' ? cap === null : cap !== null && spent >= 0.8 * cap,
    },
  ],
  empty: { text: 'No keys yet. A key lets a program call the API.', command: 'svc-admin keys create --name NAME' },
  detail: {
    path: (id) => `/keys/${id}`,
    titleOf: ({ name }) => name,
    look: KeySpending,
    actions: keyActions,
    facts: keyFacts,
  },
  create: { label: 'Create key', permission: 'manageApiKeys', useForm: useNewKey },
})
