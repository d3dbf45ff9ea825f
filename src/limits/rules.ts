import type { TierSubject } from '../accounts'
import { type OwnerScope, ownerOf, type TenantCaller, TIERS, type Tier } from '../kernel/caller'
import type { Source } from './errors'
import type { TierLimits, Tiers } from './tiers'

/** Requests per minute of a dashboard session (contract 1.2). */
const SESSION_RPM = 120

export type CallerLimits = TierLimits & { tier: Tier; rpmSource: Source; tpmSource: Source; tierSource: Source }

/** The subject whose windows count: a key has its own, all sessions of a user share one, so signing in again adds none. */
export const subjectOf = (caller: TenantCaller): string =>
  caller.type === 'key' ? caller.keyId : `session:${caller.userId}`

/** The limits of a caller per minute. A key's own limits can only lower its tier's (contract 20). */
export function limitsOf(caller: TenantCaller, tiers: Tiers): CallerLimits {
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

export const anonymousLimits = (tiers: Tiers): TierLimits => tiers.limitsOf('free')

const EXPECTED_OUTPUT_TOKENS = 1_024

/** Tokens that a call reserves as it is admitted; corrected to the true number when it ends (contract 1.6). */
export const expectedTokens = (promptTokens: number, maxOutput: number): number =>
  promptTokens + Math.min(EXPECTED_OUTPUT_TOKENS, maxOutput)

export const isAbove = (tier: Tier, other: Tier): boolean => TIERS.indexOf(tier) > TIERS.indexOf(other)

/** What an increase request is about: the keys it raises, and a name under which only one request may be pending. */
export type IncreaseSubject = { name: string; scope: OwnerScope; keys: TierSubject }

/** A key requests for itself, because tiers belong to keys; a session for the personal keys of its user. */
export const subjectOfIncrease = (caller: TenantCaller): IncreaseSubject =>
  caller.type === 'key'
    ? { name: `key:${caller.keyId}`, scope: ownerOf(caller), keys: { keyId: caller.keyId } }
    : { name: `user:${caller.userId}`, scope: ownerOf(caller), keys: { userId: caller.userId } }
