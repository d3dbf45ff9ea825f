import type { Billing } from '../billing'
import { type Hold, payerOf, refOf } from '../billing/schema'
import type { TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import type { Store, Tx } from '../kernel/store'

type Deps = { store: Store; clock: Clock; billing: Billing }

export type Holds = ReturnType<typeof createHolds>

/** Holds before charged work and the commits that end them, whatever becomes of the database meanwhile (I7, I8). */
export function createHolds({ store, clock, billing }: Deps) {
  return { place, ending }

  /**
   * Holds an amount in micro-cents for the work of this id, which is held for once. `surely` waits until the disk has
   * it. Throws 402 `insufficient_credits`, 503 `storage_unavailable`.
   */
  async function place(caller: TenantCaller, id: string, amount: number, surely: boolean): Promise<Hold | null> {
    const wanted = { ...payerOf(caller), ref: refOf(id, clock.now()), amount }
    const unit = (tx: Tx) => billing.reserve(tx, wanted)
    const hold = await (surely ? store.write(unit) : store.writeSoon(unit)).catch((error: unknown) => {
      // The commit may have reached a database that could not say so any more.
      if (error instanceof AppError && error.kind === 'unavailable') billing.releaseLater(wanted.ref)
      throw error
    })
    failpoint('after_hold_commit')
    return hold
  }

  /** The transaction that ends work. When it fails, as without a database, its hold is released once that is possible. */
  async function ending<T>(hold: Hold | null, unit: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(unit)
    } catch (error) {
      if (hold) billing.releaseLater(hold.ref)
      throw error
    }
  }
}
