import type { NewKey, NewOperatorKey } from '../../src/accounts/keys/schema'
import type { Scope, Tier } from '../../src/kernel/caller'
import { iso } from '../../src/kernel/clock'
import { BadWord, usageFailure } from '../failure'
import { readDuration } from '../words'

type Input = {
  name: string | undefined
  user: string | undefined
  personal: boolean
  scopes: Scope[] | undefined
  tier: Tier | undefined
  dailyCap: number | undefined
  monthlyCap: number | undefined
  rpm: number | undefined
  tpm: number | undefined
  origin: string[] | undefined
  expires: string | undefined
  prefix: 'live' | 'test' | undefined
}

/** The request body of `keys create`; flags that were not given are left out. */
export function inputOf(input: Input, org: string | undefined, now: number): NewOperatorKey {
  if (org && input.user) throw usageFailure('--org and --user name two owners. Leave one out.')
  return Object.fromEntries(
    Object.entries({
      name: input.name,
      org,
      user: input.user,
      personal: input.personal || undefined,
      scopes: input.scopes,
      tier: input.tier,
      daily_cap_cents: input.dailyCap,
      monthly_cap_cents: input.monthlyCap,
      rpm_limit: input.rpm,
      tpm_limit: input.tpm,
      allowed_origins: input.origin,
      expires_at: input.expires && moment(input.expires, now),
      test: input.prefix === 'test' || undefined,
    }).filter(([, value]) => value !== undefined),
  ) as NewOperatorKey
}

/** The same as tenants say it. @throws CommandFailed 2 for what only operators may say */
export function tenantInputOf({ org, user, personal, tier, ...input }: NewOperatorKey): NewKey {
  if (tier || user)
    throw usageFailure('--tier and --user are for operators. Over --url every new key starts on the free tier.')
  return { ...input, ...(org ? { org_id: org } : {}), ...(personal ? { scope: 'personal' as const } : {}) }
}

/** Turns `90d` (from now) or an ISO date into a timestamp for the API. */
export function moment(word: string, now: number): string {
  if (/^\d{4}-\d\d-\d\d/.test(word)) {
    const at = Date.parse(word)
    if (!Number.isNaN(at)) return iso(at)
  }
  return iso(now + named('--expires', () => readDuration(word)))
}

function named<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadWord) throw usageFailure(`${name} ${error.message}.`)
    throw error
  }
}
