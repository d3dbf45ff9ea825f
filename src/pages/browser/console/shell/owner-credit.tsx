import type { Balance } from '../../../../operators/schema'
import { Facts } from '../ui/facts'
import { type FormField, field } from '../ui/fields'
import { money } from '../ui/format'
import { Shown } from '../ui/states'
import { Actions } from './actions'
import { useGet } from './api'

const REASON = field('note', 'Reason', { required: true, help: "It is recorded in the owner's ledger." })
const DOLLARS = field('amount_cents', 'Amount in dollars', { kind: 'cents', required: true })
const GRANT = [{ ...DOLLARS, min: 0.01 }, REASON]
const ADJUST = [{ ...DOLLARS, label: 'Dollars to add, or to subtract with a minus' }, REASON]
const CAPS: readonly FormField[] = [
  field('daily_cap_cents', 'Daily cap, in dollars', { kind: 'cents', empty: 'null', min: 0 }),
  field('monthly_cap_cents', 'Monthly cap, in dollars', { kind: 'cents', empty: 'null', min: 0 }),
]

/** The balance of an owner, and what operators may do about it. */
export function OwnerCredit({ owner }: { owner: string }) {
  const balance = useGet<Balance>('/credits', { owner })
  return (
    <>
      <Shown of={balance} rows={2}>
        {({ balance_cents, held_cents, available_cents }) => (
          <Facts
            of={{ Balance: money(balance_cents), 'On hold': money(held_cents), 'Can be spent': money(available_cents) }}
          />
        )}
      </Shown>
      <Actions
        touches={['/credits', '/orgs']}
        role="billing"
        actions={[
          { label: 'Grant credit…', path: '/credits', body: { owner }, fields: GRANT },
          { label: 'Adjust…', path: '/credits/adjustments', body: { owner }, fields: ADJUST },
          { label: 'Caps…', method: 'PUT', path: '/credits/caps', body: { owner }, fields: CAPS },
        ]}
      />
    </>
  )
}
