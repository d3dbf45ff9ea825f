import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { centsToMicro } from '../kernel/money'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Dialect, Reader } from '../kernel/store'
import { LOW_BALANCE_CENTS } from './config'
import { limitsOf } from './limits-repository'
import type { Caps } from './schema'
import type { LimitsRow } from './table'

/** What an owner has set, in micro-cents, ready for every paid call. */
export type AccountLimits = {
  readonly caps: Caps
  readonly lowBalance: number
  /** Null when credit is not bought by itself. */
  readonly topUp: { readonly below: number; readonly amountCents: number } | null
}

export type AccountLimitsOf = ReturnType<typeof createAccountLimits>

type Deps = {
  dialect: Dialect
  clock: Clock
  /** How many owners are remembered. */
  most?: number
}

/** The limits of owners, remembered: they are asked for with every paid call and change once a month. */
export function createAccountLimits({ dialect, clock, most = 20_000 }: Deps) {
  const cache = createReadCache<OwnerScope, AccountLimits>({
    max: most,
    maxAgeMs: freshFor(dialect),
    clock,
    joins: false,
  })
  const changing = new Map<OwnerScope, number>()

  return { of, changeFor, forget: (owner: OwnerScope): void => cache.forget(owner) }

  /** At once when remembered. An owner who has set nothing has the defaults. */
  function of(reader: Reader, owner: OwnerScope): AccountLimits | Promise<AccountLimits> {
    const load = async () => toLimits((await limitsOf(reader, { owner }))[0])
    return changing.has(owner) ? load() : (cache.get(owner, load) as AccountLimits | Promise<AccountLimits>)
  }

  /**
   * Runs a change of an owner's limits. Until it has ended they are read anew each time: units of work
   * already see the new ones, readers outside still the old ones.
   */
  async function changeFor<T>(owner: OwnerScope, change: () => Promise<T>): Promise<T> {
    changing.set(owner, (changing.get(owner) ?? 0) + 1)
    try {
      return await change()
    } finally {
      const left = changing.get(owner)! - 1
      if (left) changing.set(owner, left)
      else changing.delete(owner)
      cache.forget(owner)
    }
  }
}

export const toLimits = (row: LimitsRow | undefined): AccountLimits => ({
  caps: { daily: micro(row?.daily_cap_cents ?? null), monthly: micro(row?.monthly_cap_cents ?? null) },
  lowBalance: centsToMicro(row?.low_balance_threshold_cents ?? LOW_BALANCE_CENTS),
  topUp:
    row?.top_up_enabled && row.top_up_threshold_cents !== null && row.top_up_amount_cents !== null
      ? { below: centsToMicro(row.top_up_threshold_cents), amountCents: row.top_up_amount_cents }
      : null,
})

const micro = (cents: number | null): number | null => (cents === null ? null : centsToMicro(cents))
