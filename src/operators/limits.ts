import type { Call, OperatorCaller } from '../kernel/caller'
import { TIERS, type Tier } from '../kernel/caller'
import type { Page } from '../kernel/page'
import type { Store } from '../kernel/store'
import type { KeyService } from '../keys'
import type { ApiKey } from '../keys/schema'
import type { LimitIncreases, RateLimiter, Tiers } from '../rate-limits'
import type { Increase, IncreaseQuery, RateLimits } from '../rate-limits/schema'
import type { LimitDecision, TierRow } from './schema'

type Deps = {
  store: Store
  keys: KeyService
  increases: LimitIncreases
  limiter: RateLimiter
  tiers: Tiers
}

/** What operators do with tiers, and with requests for higher ones (dx 2.9, 2.16). */
export function createLimitVerbs({ store, keys, increases, limiter, tiers }: Deps) {
  return { tierTable, setTier, windowsOf, list, get: increases.operator.get, decide }

  /** The limits of every tier as they are in force. */
  function tierTable(_call: Call<OperatorCaller>): TierRow[] {
    return TIERS.map((tier) => {
      const { rpm, tpm, modes } = tiers.limitsOf(tier)
      return { id: tier, object: 'tier', rpm, tpm, ...modes, changed: tiers.changedOf(tier) }
    })
  }

  /** Another tier for one key, in force with its next request. Throws 404, 409. */
  async function setTier(call: Call<OperatorCaller>, ref: string, tier: Tier): Promise<ApiKey> {
    const { id } = await keys.operator.get(call, ref)
    await store.write((tx) => increases.setTierIn(tx, call, id, tier))
    return keys.operator.get(call, id)
  }

  /** A key's windows as the limiter of this process sees them. Throws 404. */
  async function windowsOf(call: Call<OperatorCaller>, ref: string): Promise<Omit<RateLimits, 'request_id'>> {
    const caller = await keys.operator.callerOf(call, ref)
    const pending_request = await increases.pendingOf({ ...call, caller })
    return { ...limiter.status(caller), pending_request }
  }

  function list(call: Call<OperatorCaller>, query: IncreaseQuery): Promise<Page<Increase>> {
    return increases.operator.list(call, query)
  }

  /** Approves, with another tier where one is named, or rejects. Throws 404, 409 when it is decided already. */
  function decide(
    call: Call<OperatorCaller>,
    id: string,
    { decision, reason, tier }: LimitDecision,
  ): Promise<Increase> {
    return increases.operator.decide(call, id, { decision, reason: reason ?? null, tier })
  }
}
