import type { AuditLog } from '../audit'
import type { Billing, Difference } from '../billing'
import type { Call, OperatorCaller } from '../kernel/caller'
import { microToCents } from '../kernel/money'
import type { Reconciliation } from './schema-credits'

type Deps = { audit: AuditLog; billing: Pick<Billing, 'reconciliation'> }

/** Recomputes balances from the ledger (dx 2.16). */
export function createReconcileVerbs({ audit, billing: { reconciliation } }: Deps) {
  return { compare, apply }

  async function compare(_call: Call<OperatorCaller>): Promise<Reconciliation> {
    const differences = await reconciliation.differences()
    return answerOf(differences.map((difference) => present(difference, false)))
  }

  /** Corrects every wallet that can be corrected, each in its own transaction and recorded in its owner's chain. */
  async function apply(call: Call<OperatorCaller>): Promise<Reconciliation> {
    const shown: Reconciliation['differences'] = []
    for (const found of await reconciliation.differences()) {
      const applied = await reconciliation.apply(found.owner, (tx, { owner, balance, entries, held, open }) =>
        audit.record(tx, call, {
          action: 'credits.reconciled',
          entityType: 'billing',
          entityId: null,
          scope: owner,
          input: {
            metadata: {
              balance_cents: cents(balance),
              ledger_cents: cents(entries),
              held_cents: cents(held),
              open_cents: cents(open),
            },
          },
        }),
      )
      shown.push(present(applied ?? found, applied !== null))
    }
    return answerOf(shown)
  }
}

const answerOf = (differences: Reconciliation['differences']): Reconciliation => ({
  object: 'credit_reconciliation',
  ok: differences.every(({ applied }) => applied),
  differences,
})

const cents = (micro: number | null): number | null => (micro === null ? null : microToCents(micro))

const present = ({ owner, balance, held, entries, open }: Difference, applied: boolean) => ({
  id: owner,
  balance_cents: cents(balance),
  ledger_cents: microToCents(entries),
  held_cents: cents(held),
  open_cents: microToCents(open),
  applied,
})
