import type { LedgerRow } from '../../../../../operators/schema'
import { useOwner } from '../../shell/api'
import { OwnerCredit } from '../../shell/owner-credit'
import { defineScreen } from '../../shell/screen'
import { column, moneyColumn, timeColumn } from '../../ui/columns'

const Credit = () => (
  <section className="card part" aria-label="Credit">
    <OwnerCredit owner={useOwner().looksAt!} />
  </section>
)

/** The ledger of an owner, for operators. */
export default defineScreen<LedgerRow>('billing', 'Billing', {
  above: Credit,
  list: { path: '/credits/ledger', rows: 'entries' },
  columns: [
    timeColumn('time', 'Time', ({ at }) => at),
    column('kind', 'Kind', { main: true, width: '120px' }),
    column('for', 'Description', { cell: ({ ref, note }) => note ?? ref }),
    moneyColumn('amount', 'Amount', ({ amount_cents }) => amount_cents, { main: true }),
    moneyColumn('balance', 'Balance after', ({ balance_cents }) => balance_cents, { main: true }),
  ],
  empty: { text: 'No movements.' },
})
