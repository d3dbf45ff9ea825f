import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { centsToMicro } from '../kernel/money'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Dialect, Reader } from '../kernel/store'
import { LOW_BALANCE_CENTS } from './config'
import { limitsOf } from './limits-repository'
import type { Caps } from './schema'
import type { LimitsRow } from './table'

/** An owner's limits in micro-cents, in the form that paid calls check. */
export type AccountLimits = {
  readonly caps: Caps
  readonly lowBalance: number
  /** Null when automatic top-up is off. */
  readonly topUp: { readonly below: number; readonly amountCents: number } | null
}

export type AccountLimitsOf = ReturnType<typeof createAccountLimits>

type Deps = {
  dialect: Dialect
  clock: Clock
  /** How many owners are cached. */
  max?: number
}

/** Cached limits of owners: every paid call reads them, and they rarely change. */
export function createAccountLimits({ dialect, clock, max = 20_000 }: Deps) {
  const cache = createReadCache<OwnerScope, AccountLimits>({
    max: max,
    maxAgeMs: freshFor(dialect),
    clock,
    joins: false,
  })
  const changing = new Map<OwnerScope, number>()

  return { of, changeFor, forget: (owner: OwnerScope): void => cache.forget(owner) }

  /** Synchronous when cached. An owner without a row has the defaults. */
  function of(reader: Reader, owner: OwnerScope): AccountLimits | Promise<AccountLimits> {
    const load = async () => toLimits((await limitsOf(reader, { owner }))[0])
    return changing.has(owner) ? load() : (cache.get(owner, load) as AccountLimits | Promise<AccountLimits>)
  }

  /**
   * Runs a change of an owner's limits. Meanwhile the cache is bypassed: transactions may already see the new limits
   * while readers outside still see the old ones.
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
