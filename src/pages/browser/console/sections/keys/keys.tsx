import type { ApiKey } from '../../../../../accounts/keys/schema'
import type { UsageReport } from '../../../../../usage/schema'
import { useGet, useOwner } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column, moneyColumn } from '../../ui/columns'
import { Bar } from '../../ui/controls'
import { money } from '../../ui/format'
import { KeySpending, KeyState, KeyUsage, keyActions, keyFacts, TIERS } from './detail'
import { useNewKey } from './new'

/** What a key spent this month, and the cap that ends its calls first: its own or that of who pays. */
function Spent({ spent_month_cents: spent, monthly_cap_cents: cap }: ApiKey) {
  const { id, looksAt } = useOwner()
  const { data } = useGet<UsageReport>('/usage', {}, { off: looksAt !== undefined })
  const { monthly_used_cents: used = 0, monthly_cap_cents: most = null } = data?.spending ?? {}
  const isOwn = cap !== null && (most === null || cap - spent <= most - used)
  const limit = isOwn ? { used: spent, of: cap, whose: '' } : { used, of: most, whose: id ? 'organization' : 'account' }
  if (limit.of === null) return <>{money(spent)}</>
  const text = `${money(limit.used)} of ${money(limit.of)} this month${limit.whose && `, cap of the ${limit.whose}`}`
  return (
    <span className="spent" title={text}>
      {money(spent)} / {money(limit.of)} {limit.whose && <small>{limit.whose}</small>}
      <Bar used={limit.used} of={limit.of} label={text} />
    </span>
  )
}

const boundOf = ({ routing_preference_id: preference, guardrail_policy_id: policy }: ApiKey) => [
  ...(preference ? ['preference'] : []),
  ...(policy ? ['policy'] : []),
]

const STATUSES = { active: 'active', rotating: 'rotating', revoked: 'revoked or expired' }

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
    column('name', 'Name', { main: true, width: 'minmax(140px, 1.4fr)', sort: true }),
    column('prefix', 'Prefix', { cell: ({ prefix }) => <code>{prefix}…</code>, width: 'minmax(150px, 1fr)' }),
    column('status', 'Status', { cell: KeyState, main: true, width: '132px', sort: ({ status }) => status }),
    column('scopes', 'Scopes', { cell: ({ scopes }) => (scopes.length === 5 ? 'everything' : scopes.join(', ')) }),
    column('tier', 'Tier', { width: '96px', sort: true }),
    column('spent', 'Spent this month / cap', {
      cell: Spent,
      main: true,
      number: true,
      width: 'minmax(164px, 1fr)',
      sort: (key) => key.spent_month_cents,
    }),
    agoColumn('used', 'Last used', ({ last_used_at }) => last_used_at, { width: '124px' }),
    moneyColumn('today', 'Today', ({ spent_today_cents }) => spent_today_cents, { extra: true }),
    agoColumn('made', 'Created', ({ created }) => created, { main: false, number: false, extra: true }),
    agoColumn('expires', 'Expires', ({ expires_at }) => expires_at, { main: false, number: false, extra: true }),
    column('bindings', 'Bound to', { cell: (key) => boundOf(key).join(', ') || 'nothing', extra: true }),
  ],
  filters: [
    { name: 'q', label: 'Name or prefix', match: ['name', 'prefix'] },
    { name: 'status', label: 'Status', values: STATUSES, match: 'same' },
    { name: 'tier', label: 'Tier', values: TIERS, match: 'same' },
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
    {
      name: 'bound',
      label: 'Bound to',
      values: { preference: 'a preference', policy: 'a policy', nothing: 'nothing' },
      match: (key, wanted) => (wanted === 'nothing' ? boundOf(key).length === 0 : boundOf(key).includes(wanted)),
    },
  ],
  empty: { text: 'No keys yet. A key lets a program call the API.', command: 'svc-admin keys create --name NAME' },
  detail: {
    path: (id) => `/keys/${id}`,
    titleOf: ({ name }) => name,
    look: KeySpending,
    actions: keyActions,
    facts: keyFacts,
    body: KeyUsage,
  },
  create: { label: 'Create key', permission: 'manageApiKeys', useForm: useNewKey },
})
