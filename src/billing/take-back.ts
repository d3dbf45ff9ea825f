import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Tx } from '../kernel/store'
import type { CreditLots } from './lots'
import type { BalanceWatch } from './low-balance'
import { claim, debit, insertEntry, walletOf } from './repository'
import { ISSUED } from './schema'

type Deps = { clock: Clock; watch: BalanceWatch; lots: Pick<CreditLots, 'moving'> }
type Order = { owner: OwnerScope; amount: number; ref: string; note: string }

/**
 * Takes credit out of a wallet again because it was paid back or disputed: as much of the amount as no
 * hold claims, never more. Once a `ref`. Answers what was taken, in micro-cents.
 */
export async function takeBack(
  tx: Tx,
  { clock, watch, lots }: Deps,
  { owner, amount, ref, note }: Order,
): Promise<number> {
  // A claim of nothing: on Postgres the wallet's row is ours from here on.
  await claim(tx, { id: owner, amount: 0 })
  const [wallet] = await walletOf(tx, { id: owner })
  const taken = Math.min(amount, (wallet?.balance ?? 0) - (wallet?.held ?? 0))
  if (taken <= 0) return 0
  const entry = { ref, kind: 'refund', at: clock.now(), note }
  const [first] = await insertEntry(tx, { ...entry, account: owner, amount: -taken })
  if (!first) return 0
  await insertEntry(tx, { ...entry, account: ISSUED, amount: taken })
  await lots.moving(tx, owner, -taken)
  const [left] = await debit(tx, { id: owner, amount: taken })
  if (left) await watch.moved(tx, owner, left.balance + taken, left.balance)
  return taken
}
