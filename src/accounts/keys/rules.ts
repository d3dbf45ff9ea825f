import type { KeyCaller, OwnerScope, Scope, TenantCaller, Tier } from '../../kernel/caller'
import { invalidInput, messageOf, quoted } from '../../kernel/errors'
import type { KeyId } from '../../kernel/ids'
import { charactersIn } from '../../kernel/text'
import { keyErrors } from './errors'
import { isLive } from './repository'
import type { BrandSoul, KeyPatch, KeyStatus } from './schema'
import type { KeyRow } from './table'

export type TierLimits = { rpm: number; tpm: number }

/** The owner that pays for a key's calls and whose audit chain records them. */
export const ownerOfKey = ({ org_id, user_id }: Pick<KeyRow, 'org_id' | 'user_id'>): OwnerScope =>
  org_id ? `org:${org_id}` : `user:${user_id}`

/**
 * The status of a key (docs/api.md 20). An expired key does not work either and is shown as `revoked`. Its `revoked_at`
 * stays null, and a later `expires_at` makes it work again.
 */
export function statusOf(row: Pick<KeyRow, 'revoked_at' | 'expires_at' | 'rotating_until'>, now: number): KeyStatus {
  if (!isLive(row, now)) return 'revoked'
  return row.rotating_until !== null && row.rotating_until > now ? 'rotating' : 'active'
}

/** Throws 403 `missing_scope` when `added` has a scope the calling key lacks. Sessions have all scopes. */
export function assertGrantable(caller: TenantCaller, added: readonly Scope[]): void {
  if (caller.type !== 'key') return
  const missing = added.filter((scope) => !caller.scopes.includes(scope))
  if (missing.length) throw keyErrors.scopeNotHeld(missing, caller.scopes)
}

/**
 * Anyone who gets a new secret can act as that key. Throws 403 `missing_scope` when the key has scopes that the
 * caller's key lacks. Throws 403 `forbidden` for a colleague's key, which has its creator's role and data: an admin
 * could become an owner by rotating an owner's key (docs/attacks.md E5).
 */
export function assertRotatable(caller: TenantCaller, { user_id, scopes }: Pick<KeyRow, 'user_id' | 'scopes'>): void {
  if (user_id !== caller.userId) throw keyErrors.rotatedByMakerOnly()
  if (caller.type !== 'key') return
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope))
  if (missing.length) throw keyErrors.scopesNotRotatable(missing)
}

type OwnLimits = { rpm_limit?: number | null | undefined; tpm_limit?: number | null | undefined }

/** A key's own limits may only lower its tier's (docs/api.md 20). Throws 400 `validation_error`. */
export function assertWithinTier({ rpm_limit, tpm_limit }: OwnLimits, tier: Tier, max: TierLimits): void {
  if (rpm_limit && rpm_limit > max.rpm) {
    throw keyErrors.limitAboveTier.with({ param: 'rpm_limit' }, 'rpm_limit', rpm_limit, tier, max.rpm)
  }
  if (tpm_limit && tpm_limit > max.tpm) {
    throw keyErrors.limitAboveTier.with({ param: 'tpm_limit' }, 'tpm_limit', tpm_limit, tier, max.tpm)
  }
}

type Bounds = Pick<
  KeyRow,
  | 'rpm_limit'
  | 'tpm_limit'
  | 'daily_cap_cents'
  | 'monthly_cap_cents'
  | 'expires_at'
  | 'allowed_origins'
  | 'guardrail_policy_id'
>
const CEILINGS = ['rpm_limit', 'tpm_limit', 'daily_cap_cents', 'monthly_cap_cents', 'expires_at'] as const

/** The first limit, cap or other bound that is set on a key. Null when the key has none. */
export const boundOf = (key: Bounds): keyof Bounds | null =>
  CEILINGS.find((field) => key[field] !== null) ??
  (key.allowed_origins.length ? 'allowed_origins' : null) ??
  (key.guardrail_policy_id !== null ? 'guardrail_policy_id' : null)

/**
 * A leaked key must not free itself of its bounds: limits, caps, end, origins, guardrail policy. Throws 403 `forbidden`
 * when a key raises, widens, removes or replaces one of these on itself. Throws it for another key too if the calling
 * key has bounds, because it could continue as that key. `assertGrantable` checks scopes.
 */
export function assertNotWidened(
  caller: Pick<KeyCaller, 'keyId'>,
  before: Bounds & { id: KeyId },
  change: Partial<Bounds>,
  own: Bounds | null,
): void {
  if (caller.keyId !== before.id && !(own && boundOf(own))) return
  const raised = CEILINGS.find((field) => {
    // Null means no bound.
    const [now, wanted] = [before[field], change[field]]
    return now !== null && wanted !== undefined && (wanted === null || wanted > now)
  })
  if (raised) throw keyErrors.cannotWidenOwnKey(raised)
  const { allowed_origins: origins, guardrail_policy_id: policy } = change
  const held = before.guardrail_policy_id
  if (policy !== undefined && held !== null && policy !== held) throw keyErrors.cannotWidenOwnKey('guardrail_policy_id')
  if (!origins || !before.allowed_origins.length) return
  const isWider = !origins.length || origins.some((origin) => !before.allowed_origins.includes(origin))
  if (isWider) throw keyErrors.cannotWidenOwnKey('allowed_origins')
}

/** Parses `expires_at` to epoch ms. Throws 400 `validation_error` for a time that is not in the future. */
export function readExpiry(value: string | null | undefined, now: number): number | null {
  if (value === null || value === undefined) return null
  const at = Date.parse(value)
  if (at > now) return at
  throw invalidInput(
    'expires_at',
    `"expires_at" is ${messageOf(value)}, which is not in the future. Send a later time, or null for no expiry.`,
  )
}

/** Origins as browsers send them, without duplicates. Throws 400 `validation_error` naming the invalid one. */
export function readOrigins(values: readonly string[]): string[] {
  return [...new Set(values.map((value, index) => readOrigin(value, `allowed_origins[${index}]`)))]
}

function readOrigin(value: string, path: string): string {
  const url = URL.parse(value)
  const isBare = url && url.pathname === '/' && !`${url.search}${url.hash}${url.username}${url.password}`
  if (url && isBare && /^https?:$/.test(url.protocol)) return url.origin
  throw invalidInput(
    path,
    `"${path}" is "${quoted(value)}"; an origin is a scheme and a host, such as https://app.example or http://localhost:5173.`,
  )
}

/** The brand soul is part of every prompt under the key, and each call pays for its tokens. */
const MAX_SOUL_CHARS = 40_000

/** Fills in missing members of a brand soul and drops unknown ones. Throws 400 when it is too long. */
export function readBrandSoul(value: NonNullable<KeyPatch['brand_soul']>): BrandSoul {
  const { enabled = true, persona = '', tone = '', knowledge = [], constraints = [] } = value
  const length = [persona, tone, ...knowledge, ...constraints].reduce((sum, text) => sum + charactersIn(text), 0)
  if (length > MAX_SOUL_CHARS) {
    throw invalidInput(
      'brand_soul',
      `"brand_soul" has ${length} characters; at most ${MAX_SOUL_CHARS} are allowed in all.`,
    )
  }
  return { enabled, persona, tone, knowledge, constraints }
}

export const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]
