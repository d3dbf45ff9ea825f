import type { KeyService } from '../accounts'
import type { ApiKey, OperatorKeyPatch } from '../accounts/keys/schema'
import { type Call, type OperatorCaller, TIERS, type Tier } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Page } from '../kernel/page'
import type { Store } from '../kernel/store'
import type { LimitIncreases, RateLimiter, Tiers } from '../limits'
import type { Increase, IncreaseQuery, RateLimits } from '../limits/schema'
import { peakOf } from '../usage'
import type { LimitDecision, TierRow, WeighedIncrease } from './schema'

type Deps = {
  store: Store
  clock: Clock
  keys: KeyService
  increases: LimitIncreases
  limiter: RateLimiter
  tiers: Tiers
}

/** Operator verbs for tiers and requests for higher ones (docs/operating.md 2.9, 2.16). */
export function createLimitVerbs({ store, clock, keys, increases, limiter, tiers }: Deps) {
  return { tierTable, setTier, updateKey, windowsOf, list, get, decide }

  /** The current limits of every tier. */
  function tierTable(_call: Call<OperatorCaller>): TierRow[] {
    return TIERS.map((tier) => {
      const { rpm, tpm, modes } = tiers.limitsOf(tier)
      return { id: tier, object: 'tier', rpm, tpm, ...modes, changed: tiers.changedOf(tier) }
    })
  }

  /** Sets one key's tier, from its next request on. */
  async function setTier(call: Call<OperatorCaller>, ref: string, tier: Tier): Promise<ApiKey> {
    const { id } = await keys.get(call, ref)
    await store.write((tx) => increases.setTierIn(tx, call, id, tier))
    return keys.get(call, id)
  }

  /** Sets the owner's settings of a key and its tier. Throws 404, 400, 409 for the tier of a revoked or expired key. */
  async function updateKey(call: Call<OperatorCaller>, ref: string, { tier, ...patch }: OperatorKeyPatch) {
    const { id } = await keys.get(call, ref)
    return store.write(async (tx) => {
      if (tier) await increases.setTierIn(tx, call, id, tier)
      return keys.updateIn(tx, call, id, patch)
    })
  }

  /** A key's current rate-limit windows. */
  async function windowsOf(call: Call<OperatorCaller>, ref: string): Promise<Omit<RateLimits, 'request_id'>> {
    const caller = await keys.callerOf(call, ref)
    const pending_request = await increases.pendingOf({ ...call, caller })
    return { ...(await limiter.status(caller)), pending_request }
  }

  /** Newest first, each with the current usage. */
  async function list(call: Call<OperatorCaller>, query: IncreaseQuery): Promise<Page<WeighedIncrease>> {
    const page = await increases.operator.list(call, query)
    const items: WeighedIncrease[] = []
    for (const increase of page.items) items.push(await withUsage(increase))
    return { ...page, items }
  }

  async function get(call: Call<OperatorCaller>, id: string): Promise<WeighedIncrease> {
    return withUsage(await increases.operator.get(call, id))
  }

  /** Approves, optionally with another tier, or rejects. Throws 404, 409 when already decided. */
  async function decide(
    call: Call<OperatorCaller>,
    id: string,
    { decision, reason, tier }: LimitDecision,
  ): Promise<WeighedIncrease> {
    return withUsage(await increases.operator.decide(call, id, { decision, reason: reason ?? null, tier }))
  }

  async function withUsage(increase: Increase): Promise<WeighedIncrease> {
    const { key_id: keyId, current_tier, requested_tier } = increase
    const owner = await increases.operator.ownerOf(increase.id)
    return {
      ...increase,
      peak: await peakOf(store.read, { owner, keyId }, clock.now()),
      current_limits: limitsOf(current_tier),
      requested_limits: limitsOf(requested_tier),
    }
  }

  function limitsOf(tier: Tier): { requests: number; tokens: number } {
    const { rpm, tpm } = tiers.limitsOf(tier)
    return { requests: rpm, tokens: tpm }
  }
}
