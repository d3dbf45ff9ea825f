import type { TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { modeRateLimitExceeded, rateLimitExceeded, tokenLimitExceeded, tokensNeverFit } from './errors'
import { createMemoryWindows } from './memory-windows'
import { anonymousLimits, type CallerLimits, limitsOf, subjectOf } from './rules'
import type { LimitStatus, RateLimits } from './schema'
import { groupOf, type ModeGroup, type Tiers } from './tiers'
import { add, correct, createWindow, resetMs, used, WINDOW_MS, type Window, waitFor } from './window'

export type RateLimiter = ReturnType<typeof createRateLimiter>

/** Tokens reserved at admission; `correct` replaces them once by what the call really used. */
export type TokenTicket = { correct(tokens: number): void }

const MAX_ANONYMOUS = 10_000

/**
 * The limits of contract 1.6, exact in every half-open minute (I12). A rejected request does not count in the window
 * that rejected it; a request rejected by a mode or token limit still counts as a request.
 */
export function createRateLimiter({ clock, tiers }: { clock: Clock; tiers: Tiers }) {
  const subjects = createMemoryWindows(clock)
  const addresses = createMemoryWindows(clock, MAX_ANONYMOUS)
  /** A caller is a new object whenever its key or session changes, and the tiers of a process never do. */
  const known = new WeakMap<TenantCaller, CallerLimits>()

  return { admitRequest, admitMode, reserveTokens, reserveForJob, countTokens, headers, anonymousHeaders, status }

  function allowed(caller: TenantCaller): CallerLimits {
    const found = known.get(caller)
    if (found) return found
    const limits = limitsOf(caller, tiers)
    known.set(caller, limits)
    return limits
  }

  /** Counts one request. Throws 429 `rate_limit_exceeded`. */
  function admitRequest(caller: TenantCaller): void {
    const now = clock.monotonic()
    const { requests } = subjects.of(subjectOf(caller), now)
    const { rpm, rpmSource } = allowed(caller)
    const count = used(requests, now)
    if (count >= rpm) {
      const retryAfterS = seconds(waitFor(requests, now, rpm, 1))
      const who = caller.type === 'key' ? 'This key' : 'A dashboard session'
      throw rateLimitExceeded.with({ retryAfterS }, who, rpm, rpmSource, count + 1, retryAfterS)
    }
    add(requests, now, 1)
  }

  /** Counts one request of a mode (for `auto` the resolved one). Throws 429 `mode_rate_limit_exceeded`. */
  function admitMode(caller: TenantCaller, mode: string): void {
    const group = groupOf(mode)
    const now = clock.monotonic()
    const windows = subjects.of(subjectOf(caller), now)
    windows.modes[group] ??= createWindow()
    const window = windows.modes[group]
    const { modes, tierSource } = allowed(caller)
    const count = used(window, now)
    if (count >= modes[group]) {
      const retryAfterS = seconds(waitFor(window, now, modes[group], 1))
      throw modeRateLimitExceeded.with({ retryAfterS }, group, modes[group], tierSource, count + 1, retryAfterS)
    }
    add(window, now, 1)
  }

  /**
   * Reserves the tokens a call may use before it starts, so that parallel calls cannot exceed the limit together (I14).
   * Throws 429 `token_limit_exceeded`.
   */
  function reserveTokens(caller: TenantCaller, tokens: number): TokenTicket {
    const now = clock.monotonic()
    const window = subjects.of(subjectOf(caller), now).tokens
    const { tpm, tpmSource } = allowed(caller)
    const waitMs = waitFor(window, now, tpm, tokens)
    if (waitMs === Number.POSITIVE_INFINITY) {
      throw tokensNeverFit.with({ retryAfterS: WINDOW_MS / 1000 }, tpm, tpmSource, tokens)
    }
    if (waitMs > 0) {
      const retryAfterS = seconds(waitMs)
      const left = Math.max(tpm - used(window, now), 0)
      throw tokenLimitExceeded.with({ retryAfterS }, tpm, tpmSource, left, tokens, retryAfterS)
    }
    const entry = add(window, now, tokens)
    return { correct: (actual) => correct(window, entry, actual >= 0 ? actual : tokens) }
  }

  /**
   * The same for work that goes on as a job, and counts what it used as it ends; what is more than the whole limit is
   * cut to it.
   */
  function reserveForJob(caller: TenantCaller, tokens: number): TokenTicket {
    return reserveTokens(caller, Math.min(tokens, allowed(caller).tpm))
  }

  /** Counts tokens that were used already, so it refuses nothing. */
  function countTokens(caller: TenantCaller, tokens: number): void {
    if (tokens <= 0) return
    const now = clock.monotonic()
    add(subjects.of(subjectOf(caller), now).tokens, now, tokens)
  }

  /** The six headers of contract 1.3 with their current values. */
  function headers(caller: TenantCaller): Record<string, string> {
    const now = clock.monotonic()
    const { requests, tokens } = subjects.of(subjectOf(caller), now)
    const { rpm, tpm } = allowed(caller)
    return headersFrom(rpm, requests, tpm, tokens, now)
  }

  /**
   * Counts a call without a credential by address and returns its headers: informational, never enforced (contract
   * 1.3). Pass `counts` false for a CORS preflight, which is not a call.
   */
  function anonymousHeaders(address: string, counts = true): Record<string, string> {
    const now = clock.monotonic()
    const { requests, tokens } = addresses.of(address, now)
    const { rpm, tpm } = anonymousLimits(tiers)
    if (counts && used(requests, now) < rpm) add(requests, now, 1)
    return headersFrom(rpm, requests, tpm, tokens, now)
  }

  /** The body of `GET /rate-limits` (contract 21) without the pending request. */
  function status(caller: TenantCaller): Omit<RateLimits, 'request_id' | 'pending_request'> {
    const now = clock.monotonic()
    const { requests, tokens, modes: counted } = subjects.of(subjectOf(caller), now)
    const { tier, rpm, tpm, modes } = allowed(caller)
    const ofMode = (group: ModeGroup) => statusOf(counted[group] ?? createWindow(), modes[group], now)
    const overrides = caller.type === 'key' ? caller : { rpmLimit: null, tpmLimit: null }
    return {
      tier,
      window_seconds: 60,
      limits: { rpm, tpm },
      mode_limits: { ...modes },
      usage: {
        requests: statusOf(requests, rpm, now),
        tokens: statusOf(tokens, tpm, now),
        modes: {
          text: ofMode('text'),
          stealth: ofMode('stealth'),
          image: ofMode('image'),
          research: ofMode('research'),
          video: ofMode('video'),
        },
      },
      key_overrides: { rpm_limit: overrides.rpmLimit, tpm_limit: overrides.tpmLimit },
    }
  }
}

const statusOf = (window: Window, limit: number, now: number): LimitStatus => ({
  limit,
  remaining: remaining(window, limit, now),
  reset: reset(window, now),
})

const headersFrom = (rpm: number, requests: Window, tpm: number, tokens: Window, now: number) => ({
  'x-ratelimit-limit-requests': String(rpm),
  'x-ratelimit-remaining-requests': String(remaining(requests, rpm, now)),
  'x-ratelimit-reset-requests': reset(requests, now),
  'x-ratelimit-limit-tokens': String(tpm),
  'x-ratelimit-remaining-tokens': String(remaining(tokens, tpm, now)),
  'x-ratelimit-reset-tokens': reset(tokens, now),
})

/** Never below zero: the limit may have been lowered, or a call may have used more than it reserved. */
const remaining = (window: Window, limit: number, now: number): number => Math.max(limit - used(window, now), 0)

const reset = (window: Window, now: number): string => `${Math.ceil(resetMs(window, now) / 1000)}s`

/** Whole seconds until the wait is over, rounded up for `Retry-After`. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))
