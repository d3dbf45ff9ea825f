import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Tx } from '../kernel/store'
import type { ExpiringGrants } from './expiring-grants'
import type { BalanceWatch } from './low-balance'
import { claim, debit, insertEntry, walletOf } from './repository'
import { ISSUED } from './schema'

type Deps = { clock: Clock; watch: BalanceWatch; expiringGrants: Pick<ExpiringGrants, 'beforeAdjustment'> }
type Order = { owner: OwnerScope; amount: number; ref: string; note: string }

/**
 * Takes refunded or disputed credit out of a wallet: as much of the amount as is not on hold. Once per `ref`.
 * Returns what was taken, in micro-cents.
 */
export async function takeBack(
  tx: Tx,
  { clock, watch, expiringGrants }: Deps,
  { owner, amount, ref, note }: Order,
): Promise<number> {
  // A claim of 0: on Postgres it takes the row lock of the wallet.
  await claim(tx, { id: owner, amount: 0 })
  const [wallet] = await walletOf(tx, { id: owner })
  const taken = Math.min(amount, (wallet?.balance ?? 0) - (wallet?.held ?? 0))
  if (taken <= 0) return 0
  const entry = { ref, kind: 'refund', at: clock.now(), note }
  const [first] = await insertEntry(tx, { ...entry, account: owner, amount: -taken })
  if (!first) return 0
  await insertEntry(tx, { ...entry, account: ISSUED, amount: taken })
  await expiringGrants.beforeAdjustment(tx, owner, -taken)
  const [left] = await debit(tx, { id: owner, amount: taken })
  if (left) await watch.decreased(tx, owner, left.balance + taken, left.balance)
  return taken
}
