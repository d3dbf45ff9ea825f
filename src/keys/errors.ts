import type { Scope, Tier } from '../kernel/caller'
import { defineError } from '../kernel/errors'

export const keyNotFound = defineError('missing', 'not_found', () => 'No API key with this id.')

export const scopeNotHeld = defineError(
  'forbidden',
  'missing_scope',
  (missing: Scope[], held: readonly Scope[]) =>
    `A key can only give what it has: this one has ${held.join(', ') || 'no scope'} and not ${missing.join(', ')}. ` +
    'Leave those out, or use a key that has them.',
)

export const orgRequired = defineError(
  'invalid',
  'org_required',
  () => '"scope" is "org", and no organization is named or active. Send "org_id", or POST /orgs/{id}/activate first.',
)

export const personalFromOrgKey = defineError(
  'forbidden',
  'forbidden',
  () =>
    "An organization's key makes keys of that organization only. Use a personal key or a session for a personal one.",
)

export const limitAboveTier = defineError(
  'invalid',
  'validation_error',
  (field: string, value: number, tier: Tier, most: number) =>
    `"${field}" is ${value}; tier ${tier} allows ${most} a minute, and a key's own limit can only lower that.`,
)

export const widensItself = defineError(
  'forbidden',
  'forbidden',
  (field: string) =>
    `A key can only narrow itself, and one with bounds only narrow others; this would widen "${field}". ` +
    'Use a key without bounds, or a session.',
)

export const boundedKey = defineError(
  'forbidden',
  'forbidden',
  (what: 'make keys' | 'give other keys a secret', field: string) =>
    `This key has a bound of its own, "${field}", and could pass it with another key, so it cannot ${what}. ` +
    'Use a key without bounds, or a session.',
)

export const leavesDefault = defineError(
  'forbidden',
  'forbidden',
  () =>
    'That would take a key out from under the default guardrail policy: a key can only narrow itself, and one that ' +
    'is under a policy or has bounds only narrow others. Use a session, or a key without bounds that no policy is over.',
)

export const escapesDefault = defineError(
  'forbidden',
  'forbidden',
  (what: 'make keys' | 'give other keys a secret') =>
    `The default guardrail policy that is over this key would not be over that one, so it cannot ${what} like it. ` +
    'Use a session.',
)

export const ambiguousKey = defineError(
  'invalid',
  'validation_error',
  (ref: string, ids: string[]) => `${ids.length} keys match "${ref}": ${ids.join(', ')}. Name one by its id.`,
)

export const keyOver = defineError('conflict', 'conflict', (how: 'was revoked' | 'expired', at: string) =>
  how === 'expired'
    ? `This key expired on ${at}, and a new secret would not work either. Send a later "expires_at" with PUT /keys/{id} first.`
    : `This key was revoked on ${at}, which is for good. Make another with POST /keys.`,
)

export const scopesNotRotatable = defineError(
  'forbidden',
  'missing_scope',
  (missing: Scope[]) =>
    `Rotating hands over a secret that may use ${missing.join(', ')}, and this key may not. Use a key that may, or a session.`,
)

export const rotatedByMakerOnly = defineError(
  'forbidden',
  'forbidden',
  () =>
    'A colleague made this key, and its new secret would act as them: only they can rotate it. Make a key of your own with POST /keys, and revoke this one with DELETE /keys/{id}.',
)
