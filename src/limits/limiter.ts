import type { TierSubject } from '../accounts'
import { type OwnerScope, ownerOf, type TenantCaller, TIERS, type Tier } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { type Static, t } from '../kernel/schema'
import { limitErrors, type Source } from './errors'
import type { LimitStatus, RateLimits } from './schema'
import { createSharedStore, type Shared } from './shared-store'
import {
  createLocalStore,
  createMemoryWindows,
  type Taken,
  type View,
  WINDOW_MS,
  type WindowName,
  type WindowStore,
} from './window'

/** Modes are limited in groups (docs/api.md 1.6). */
const MODE_GROUPS = ['text', 'stealth', 'image', 'research', 'video'] as const

export type ModeGroup = (typeof MODE_GROUPS)[number]

const forEachGroup = <T>(make: (group: ModeGroup) => T) =>
  Object.fromEntries(MODE_GROUPS.map((group) => [group, make(group)])) as Record<ModeGroup, T>

type TierLimits = { rpm: number; tpm: number; modes: Readonly<Record<ModeGroup, number>> }

const Limit = t.Integer({ minimum: 1, maximum: 1_000_000_000_000 })

const Plan = t.Partial(
  t.Object({ rpm: Limit, tpm: Limit, text: Limit, stealth: Limit, image: Limit, research: Limit, video: Limit }),
  { additionalProperties: false },
)

type Plan = Static<typeof Plan>

export const TierTable = t.Partial(t.Object({ free: Plan, starter: Plan, pro: Plan, enterprise: Plan }), {
  additionalProperties: false,
})

export type TierTable = Static<typeof TierTable>

/** Contract 1.6. The mode limits are the same fractions of the RPM in every tier, rounded down. */
const BUILT_IN: Record<Tier, { rpm: number; tpm: number }> = {
  free: { rpm: 60, tpm: 100_000 },
  starter: { rpm: 300, tpm: 500_000 },
  pro: { rpm: 1_000, tpm: 2_000_000 },
  enterprise: { rpm: 5_000, tpm: 10_000_000 },
}

const SHARES: Record<ModeGroup, number> = { text: 1, stealth: 2, image: 3, research: 4, video: 6 }

export type Tiers = ReturnType<typeof createTiers>

const namesOf = ({ modes, ...rest }: TierLimits): [string, number][] => Object.entries({ ...rest, ...modes })

/** Requests per minute of a dashboard session (docs/api.md 1.2). */
const SESSION_RPM = 120

type CallerLimits = TierLimits & { tier: Tier; rpmSource: Source; tpmSource: Source; tierSource: Source }

/** Everything of a caller that stays the same from request to request. */
type CallerPlan = CallerLimits & { subject: string; shown: ShownLimits }

type Headers = Record<string, unknown>

/** The limits as headers have them. */
type ShownLimits = { rpm: number; tpm: number; requests: string; tokens: string }

/** The limits of a caller per minute. A key's own limits can only lower its tier's (docs/api.md 20). */
function limitsOf(caller: TenantCaller, tiers: Tiers): CallerLimits {
  if (caller.type === 'session') {
    const free = tiers.limitsOf('free')
    const source = 'in the dashboard'
    return { ...free, rpm: SESSION_RPM, tier: 'free', rpmSource: 'in all', tpmSource: source, tierSource: source }
  }
  const { tier, rpmLimit, tpmLimit } = caller
  const limits = tiers.limitsOf(tier)
  const tierSource = `on tier ${tier}`
  const own = 'by its own setting'
  const lowersRpm = rpmLimit !== null && rpmLimit < limits.rpm
  const lowersTpm = tpmLimit !== null && tpmLimit < limits.tpm
  return {
    tier,
    rpm: lowersRpm ? rpmLimit : limits.rpm,
    tpm: lowersTpm ? tpmLimit : limits.tpm,
    modes: limits.modes,
    rpmSource: lowersRpm ? own : tierSource,
    tpmSource: lowersTpm ? 'by the setting of this key' : tierSource,
    tierSource,
  }
}

export const isAbove = (tier: Tier, other: Tier): boolean => TIERS.indexOf(tier) > TIERS.indexOf(other)

/** What an increase request is about: the keys it raises, and a name under which only one request may be pending. */
export type IncreaseSubject = { name: string; scope: OwnerScope; keys: TierSubject }

/** A key requests for itself, because tiers belong to keys; a session for the personal keys of its user. */
export const subjectOfIncrease = (caller: TenantCaller): IncreaseSubject =>
  caller.type === 'key'
    ? { name: `key:${caller.keyId}`, scope: ownerOf(caller), keys: { keyId: caller.keyId } }
    : { name: `user:${caller.userId}`, scope: ownerOf(caller), keys: { userId: caller.userId } }

/** Output tokens to expect of a call, unless its engine's maximum is lower. */
const EXPECTED_OUTPUT_TOKENS = 1_024

export type RateLimiter = ReturnType<typeof createRateLimiter>

/** Tokens reserved at admission; `correct` replaces them once by what the call really used. */
export type TokenTicket = { correct(tokens: number): void }

const MAX_ANONYMOUS = 10_000

type Deps = { clock: Clock; tiers: Tiers; shared?: Shared | null }

const STATUS: readonly WindowName[] = ['requests', 'tokens', ...MODE_GROUPS]

/**
 * The limits of docs/api.md 1.6, exact in every half-open minute (docs/promises.md I12). A rejected request does not
 * count in the window that rejected it; a request rejected by a mode or token limit still counts as a request. With
 * `shared` all nodes count together, and what is admitted comes as a promise; one process alone decides at once.
 */
export function createRateLimiter({ clock, tiers, shared = null }: Deps) {
  const mine = createLocalStore({ clock, windows: createMemoryWindows(clock) })
  const subjects: WindowStore = shared ? createSharedStore({ clock, mine, ...shared }) : mine
  const addresses = createLocalStore({ clock, windows: createMemoryWindows(clock, MAX_ANONYMOUS) })
  /** A caller is a new object whenever its key or session changes, and the tiers of a process never do. */
  const plans = new WeakMap<TenantCaller, CallerPlan>()
  const unnamed = shownOf(tiers.limitsOf('free'))

  return { admitRequest, admitMode, reserveTokens, countTokens, headers, anonymousHeaders, status }

  function planOf(caller: TenantCaller): CallerPlan {
    const found = plans.get(caller)
    if (found) return found
    const limits = limitsOf(caller, tiers)
    // The subject whose windows count: a key has its own, all sessions of a user share one, so signing in again adds
    // none.
    const plan = {
      ...limits,
      subject: caller.type === 'key' ? caller.keyId : `session:${caller.userId}`,
      shown: shownOf(limits),
    }
    plans.set(caller, plan)
    return plan
  }

  /** Counts one request. Throws 429 `rate_limit_exceeded`. */
  function admitRequest(caller: TenantCaller): void | Promise<void> {
    const plan = planOf(caller)
    return afterwards(subjects.take(plan.subject, 'requests', plan.rpm, 1), caller, plan, assertRequests)
  }

  /** Counts one request of a mode (for `auto` the resolved one). Throws 429 `mode_rate_limit_exceeded`. */
  function admitMode(caller: TenantCaller, mode: string): void | Promise<void> {
    const group = groupOf(mode)
    const plan = planOf(caller)
    return afterwards(subjects.take(plan.subject, group, plan.modes[group], 1), group, plan, assertModeRequests)
  }

  /**
   * Reserves the tokens of a call before it starts, so that parallel calls cannot exceed the limit together
   * (docs/promises.md I14): its prompt and its expected output. If both exceed the whole limit, less output is
   * reserved, so that a key with a small limit can run one call (docs/api.md 1.6). Throws 429 `token_limit_exceeded`.
   */
  function reserveTokens(caller: TenantCaller, prompt: number, maxOutput = 0): TokenTicket | Promise<TokenTicket> {
    const plan = planOf(caller)
    const tokens = Math.max(prompt, Math.min(prompt + Math.min(EXPECTED_OUTPUT_TOKENS, maxOutput), plan.tpm))
    return afterwards(subjects.take(plan.subject, 'tokens', plan.tpm, tokens), tokens, plan, ticketOf)
  }

  /** Counts tokens that were used already, so it refuses nothing. */
  function countTokens(caller: TenantCaller, tokens: number): void {
    if (tokens > 0) subjects.add(planOf(caller).subject, 'tokens', tokens)
  }

  /**
   * The six headers of docs/api.md 1.3 with their current values, as far as this process knows them; added to `into`.
   */
  function headers(caller: TenantCaller, into: Headers = {}): Headers {
    const { subject, shown } = planOf(caller)
    return addHeaders(into, shown, subjects.view(subject, 'requests'), subjects.view(subject, 'tokens'))
  }

  /**
   * Counts a call without a credential by address and returns its headers, added to `into`: informational, never
   * enforced (docs/api.md 1.3). Pass `counts` false for a CORS preflight, which is not a call.
   */
  function anonymousHeaders(address: string, counts = true, into: Headers = {}): Headers {
    if (counts) addresses.take(address, 'requests', unnamed.rpm, 1)
    return addHeaders(into, unnamed, addresses.view(address, 'requests'), addresses.view(address, 'tokens'))
  }

  /** The body of `GET /rate-limits` (docs/api.md 21) without the pending request. */
  async function status(caller: TenantCaller): Promise<Omit<RateLimits, 'request_id' | 'pending_request'>> {
    const { subject, tier, rpm, tpm, modes } = planOf(caller)
    const views = await subjects.read(subject, STATUS)
    const of = (name: WindowName, limit: number) => statusOf(views[STATUS.indexOf(name)]!, limit)
    const overrides = caller.type === 'key' ? caller : { rpmLimit: null, tpmLimit: null }
    return {
      tier,
      window_seconds: 60,
      limits: { rpm, tpm },
      mode_limits: { ...modes },
      usage: {
        requests: of('requests', rpm),
        tokens: of('tokens', tpm),
        modes: forEachGroup((group) => of(group, modes[group])),
      },
      key_overrides: { rpm_limit: overrides.rpmLimit, tpm_limit: overrides.tpmLimit },
    }
  }
}

/** Synchronous if the answer is there, so that a single process admits without waiting. */
const afterwards = <About, B>(
  taken: Taken | Promise<Taken>,
  about: About,
  plan: CallerPlan,
  then: (taken: Taken, about: About, plan: CallerPlan) => B,
): B | Promise<B> => (taken instanceof Promise ? later(taken, about, plan, then) : then(taken, about, plan))

/** Apart from `afterwards`, because a function that creates a closure costs more each time it is called. */
const later = <About, B>(
  taking: Promise<Taken>,
  about: About,
  plan: CallerPlan,
  then: (taken: Taken, about: About, plan: CallerPlan) => B,
): Promise<B> => taking.then((taken) => then(taken, about, plan))

function assertRequests(
  { entry, limit, used, waitMs }: Taken,
  { type }: TenantCaller,
  { rpmSource }: CallerPlan,
): void {
  if (entry) return
  const retryAfterS = seconds(waitMs)
  const who = type === 'key' ? 'This key' : 'A dashboard session'
  throw limitErrors.rateLimitExceeded.with({ retryAfterS }, who, limit, rpmSource, used + 1, retryAfterS)
}

function assertModeRequests({ entry, limit, used, waitMs }: Taken, group: ModeGroup, { tierSource }: CallerPlan): void {
  if (entry) return
  const retryAfterS = seconds(waitMs)
  throw limitErrors.modeRateLimitExceeded.with({ retryAfterS }, group, limit, tierSource, used + 1, retryAfterS)
}

function ticketOf({ entry, limit, used, waitMs }: Taken, tokens: number, { tpmSource }: CallerPlan): TokenTicket {
  if (entry) return { correct: (actual) => entry.correct(actual >= 0 ? actual : tokens) }
  if (waitMs === Number.POSITIVE_INFINITY) {
    throw limitErrors.tokensNeverFit.with({ retryAfterS: WINDOW_MS / 1000 }, limit, tpmSource, tokens)
  }
  const retryAfterS = seconds(waitMs)
  throw limitErrors.tokenLimitExceeded.with(
    { retryAfterS },
    limit,
    tpmSource,
    Math.max(limit - used, 0),
    tokens,
    retryAfterS,
  )
}

const statusOf = (view: View, limit: number): LimitStatus => ({
  limit,
  remaining: remaining(view, limit),
  reset: reset(view),
})

const shownOf = ({ rpm, tpm }: TierLimits): ShownLimits => ({ rpm, tpm, requests: String(rpm), tokens: String(tpm) })

function addHeaders(headers: Headers, limits: ShownLimits, requests: View, tokens: View): Headers {
  headers['x-ratelimit-limit-requests'] = limits.requests
  headers['x-ratelimit-remaining-requests'] = String(remaining(requests, limits.rpm))
  headers['x-ratelimit-reset-requests'] = reset(requests)
  headers['x-ratelimit-limit-tokens'] = limits.tokens
  headers['x-ratelimit-remaining-tokens'] = String(remaining(tokens, limits.tpm))
  headers['x-ratelimit-reset-tokens'] = reset(tokens)
  return headers
}

/** Never below zero: the limit may have been lowered, or a call may have used more than it reserved. */
const remaining = ({ used }: View, limit: number): number => Math.max(limit - used, 0)

const reset = ({ resetMs }: View): string => `${Math.ceil(resetMs / 1000)}s`

/** Whole seconds until the wait is over, rounded up for `Retry-After`. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

/** The tier table with the operator's overrides; a changed RPM also changes mode limits that were not set. */
export function createTiers(overrides: TierTable = {}) {
  const table = new Map(TIERS.map((tier) => [tier, limitsFrom({ ...BUILT_IN[tier], ...overrides[tier] })]))
  return {
    limitsOf: (tier: Tier): TierLimits => table.get(tier)!,
    /** Names of the limits that differ from the contract's, including those derived from an overridden RPM. */
    changedOf: (tier: Tier): string[] => {
      const builtIn = new Map(namesOf(limitsFrom(BUILT_IN[tier])))
      return namesOf(table.get(tier)!).flatMap(([name, limit]) => (builtIn.get(name) === limit ? [] : [name]))
    },
  }
}

function limitsFrom({ rpm, tpm, ...set }: Plan & { rpm: number; tpm: number }): TierLimits {
  return { rpm, tpm, modes: forEachGroup((group) => set[group] ?? Math.max(1, Math.floor(rpm / SHARES[group]))) }
}

/** The group a mode counts in. Code, documents and speech from their own endpoints count as text. */
export function groupOf(mode: string): ModeGroup {
  if (mode.startsWith('stealth_')) return 'stealth'
  return mode === 'image' || mode === 'research' || mode === 'video' ? mode : 'text'
}
