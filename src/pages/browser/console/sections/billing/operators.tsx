import type { Balance, LedgerRow } from '../../../../../operators/schema'
import { Actions } from '../../shell/actions'
import { useGet, useOwner } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { Facts } from '../../ui/facts'
import { money, Time } from '../../ui/format'
import { Shown } from '../../ui/states'

const REASON = { name: 'note', label: 'Reason', required: true, help: 'It is recorded in the ledger.' } as const

function Credit() {
  const { looksAt: owner } = useOwner()
  const balance = useGet<Balance>('/credits')
  return (
    <section className="card part" aria-label="Credit">
      <Shown of={balance} rows={2}>
        {({ balance_cents, held_cents, available_cents }) => (
          <Facts
            facts={[
              ['Balance', money(balance_cents)],
              ['On hold', money(held_cents)],
              ['Can be spent', money(available_cents)],
            ]}
          />
        )}
      </Shown>
      <Actions
        touches={['/credits']}
        role="billing"
        actions={[
          {
            label: 'Grant credit…',
            path: '/credits',
            body: { owner },
            fields: [
              { name: 'amount_cents', label: 'Amount in dollars', kind: 'cents', required: true, min: 0.01 },
              REASON,
            ],
          },
          {
            label: 'Adjust…',
            path: '/credits/adjustments',
            body: { owner },
            fields: [
              {
                name: 'amount_cents',
                label: 'Dollars to add, or to subtract with a minus',
                kind: 'cents',
                required: true,
              },
              REASON,
            ],
          },
          {
            label: 'Caps…',
            method: 'PUT',
            path: '/credits/caps',
            body: { owner },
            fields: [
              { name: 'daily_cap_cents', label: 'Daily cap, in dollars', kind: 'cents', empty: 'null', min: 0 },
              { name: 'monthly_cap_cents', label: 'Monthly cap, in dollars', kind: 'cents', empty: 'null', min: 0 },
            ],
          },
        ]}
      />
    </section>
  )
}

/** The ledger of an owner, for operators. */
export default defineScreen<LedgerRow>({
  section: 'billing',
  title: 'Billing',
  above: Credit,
  list: { path: '/credits/ledger', rows: 'entries' },
  idOf: ({ id }) => String(id),
  columns: [
    { key: 'time', head: 'Time', cell: ({ at }) => <Time at={at} />, main: true, width: '144px' },
    { key: 'kind', head: 'Kind', cell: ({ kind }) => kind, main: true, width: '120px' },
    { key: 'for', head: 'For', cell: ({ ref, note }) => note ?? ref },
    { key: 'amount', head: 'Amount', cell: ({ amount_cents }) => money(amount_cents), number: true, main: true },
    {
      key: 'balance',
      head: 'Balance after',
      cell: ({ balance_cents }) => money(balance_cents),
      number: true,
      main: true,
    },
  ],
  empty: { text: 'No movements.' },
})
