import { Link } from 'wouter'
import type { BillingLimits } from '../../../../../billing/limits-schema'
import { Actions } from '../../shell/actions'
import { useGet, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { momentFilters, rangeFilter } from '../../shell/range'
import { lineOf } from '../../shell/save-as'
import { defineScreen } from '../../shell/screen'
import { column, moneyColumn, timeColumn } from '../../ui/columns'
import { Chip, Id } from '../../ui/controls'
import { Figure, Spent } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { money, Time } from '../../ui/format'
import { Shown } from '../../ui/states'
import { Statements } from './statement'

type Entry = {
  id: string
  at: string
  kind: string
  amount_cents: number
  balance_cents: number | null
  reference: { type: string; id: string } | null
  note: string | null
}

const CAPS: readonly FormField[] = [
  field('daily_cap_cents', 'Daily cap, in dollars', { kind: 'cents', empty: 'null', help: 'Empty: no cap.' }),
  field('monthly_cap_cents', 'Monthly cap, in dollars', { kind: 'cents', empty: 'null', help: 'Empty: no cap.' }),
  field('low_balance_threshold_cents', 'Warn below, in dollars', { kind: 'cents', help: '0: no warning.' }),
]
const TOP_UP: readonly FormField[] = [
  field('auto_top_up.enabled', 'Top up automatically when the balance is low', { kind: 'check' }),
  field('auto_top_up.threshold_cents', 'When the balance is below, in dollars', { kind: 'cents' }),
  field('auto_top_up.amount_cents', 'Amount, in dollars', { kind: 'cents', min: 5 }),
]
const KINDS = ['initial', 'grant', 'purchase', 'settle', 'adjust', 'expire', 'refund', 'restore', 'carried'] as const
const BUY: readonly FormField[] = [
  field('amount_cents', 'Amount, in dollars', { kind: 'cents', min: 5, max: 10_000, required: true }),
]

/** The balance, the spending against each cap, and the actions for both. */
function Credit() {
  const owner = useOwner()
  const scope = owner.id ? 'org' : 'user'
  const limits = useGet<BillingLimits>('/billing/limits', { scope })
  const back = location.href.split('?')[0]!
  const leave = ({ checkout_url, portal_url }: { checkout_url?: string; portal_url?: string }) =>
    location.assign((checkout_url ?? portal_url)!)
  return (
    <Shown of={limits} rows={2}>
      {(it) => (
        <>
          <ul className="tiles four">
            <Figure name="Balance" figure={money(it.usage.balance_cents)}>
              {it.usage.balance_cents < it.low_balance_threshold_cents ? (
                <Chip state="warn">below the warning</Chip>
              ) : (
                `warning below ${money(it.low_balance_threshold_cents)}`
              )}
            </Figure>
            <Figure name="On hold" figure={money(it.usage.reserved_cents)}>
              reserved by running calls
            </Figure>
            <Spent name="Today" used={it.usage.daily_used_cents} cap={it.daily_cap_cents} />
            <Spent name="This month" used={it.usage.monthly_used_cents} cap={it.monthly_cap_cents} />
          </ul>
          <section className="card part" aria-label="Manage credit">
            {!boot.features.payments && <p>Credit is granted by your operator.</p>}
            <Actions
              touches={['/billing', '/usage']}
              permission="manageBilling"
              actions={[
                boot.features.payments && {
                  label: 'Top up…',
                  path: '/billing/checkout',
                  fields: BUY,
                  body: { scope, success_url: back, cancel_url: back },
                  done: leave,
                },
                boot.features.payments && {
                  label: 'Invoices and cards',
                  path: '/billing/portal',
                  body: { scope, return_url: back },
                  done: leave,
                },
                {
                  ...{ label: 'Caps and warnings…', verb: 'Save', method: 'PATCH', path: '/billing/limits' },
                  ...{ fields: boot.features.payments ? [...CAPS, ...TOP_UP] : CAPS, values: it, body: { scope } },
                },
              ]}
            >
              <Statements />
            </Actions>
          </section>
          <h2 className="above-list">Ledger</h2>
        </>
      )}
    </Shown>
  )
}

/** The purpose of a movement. A request links to its page. */
function For({ reference }: Entry) {
  const owner = useOwner()
  if (!reference) return <>none</>
  if (reference.type !== 'request') return <>{`${reference.type} ${reference.id}`}</>
  return <Link href={`/${owner.slug}/requests/${reference.id}`}>{reference.id}</Link>
}

export default defineScreen<Entry>('billing', 'Billing', {
  above: Credit,
  list: { path: '/billing/ledger', rows: 'entries', query: ({ id }) => ({ scope: id ? 'org' : 'user' }) },
  file: {
    path: '/billing/ledger/export',
    formats: ['csv', 'json'],
    line: ({ reference, note, ...it }) => ({
      ...lineOf(it, ['id', 'at', 'kind', 'amount_cents', 'balance_cents']),
      reference_type: reference?.type,
      reference_id: reference?.id,
      note,
    }),
  },
  columns: [
    timeColumn('time', 'Time', ({ at }) => at),
    column('kind', 'Kind', { main: true, width: '120px', sort: true }),
    column('for', 'Description', { cell: ({ reference, note }) => reference?.id ?? note ?? '–' }),
    moneyColumn('amount', 'Amount', ({ amount_cents }) => amount_cents, { main: true }),
    moneyColumn('balance', 'Balance after', ({ balance_cents }) => balance_cents),
  ],
  filters: [
    rangeFilter,
    {
      name: 'kind',
      label: 'Kind',
      values: KINDS.map((kind) => [kind, kind === 'settle' ? 'settle (a call)' : kind] as const),
    },
    ...momentFilters,
  ],
  empty: { text: 'No movements.' },
  detail: {
    titleOf: ({ kind }) => `Movement: ${kind}`,
    facts: (entry) => ({
      Time: <Time at={entry.at} />,
      Kind: entry.kind,
      Amount: money(entry.amount_cents),
      'Balance after': entry.balance_cents === null ? 'not kept' : money(entry.balance_cents),
      Id: <Id id={entry.id} />,
      For: <For {...entry} />,
      Note: entry.note ?? 'none',
    }),
  },
})
