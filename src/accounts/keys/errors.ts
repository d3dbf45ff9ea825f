import type { Scope, Tier } from '../../kernel/caller'
import { defineErrors } from '../../kernel/errors'

export const keyErrors = {
  ...defineErrors('not_found', {
    keyNotFound: 'No API key with this id.',
  }),
  ...defineErrors('missing_scope', {
    scopeNotHeld: (missing: Scope[], held: readonly Scope[]) =>
      `A key can only grant scopes it has. This one has ${held.join(', ') || 'no scope'} and not ${missing.join(', ')}. ` +
      'Leave those out, or use a key that has them.',
    scopesNotRotatable: (missing: Scope[]) =>
      `Rotating returns a secret with the scopes ${missing.join(', ')}, which this key does not have. Use a key that has them, or a session.`,
  }),
  ...defineErrors('conflict', {
    tooManyKeys: (owner: 'person' | 'organization', max: number) => {
      const [ownerFilter, name] =
        owner === 'person' ? ['You have', 'SVC_MAX_KEYS_PER_PERSON'] : ['The organization has', 'SVC_MAX_KEYS_PER_ORG']
      return `${ownerFilter} ${max} API keys, which is the maximum here (${name}). Revoke one with DELETE /keys/{id} first.`
    },
    keyHasEnded: (how: 'was revoked' | 'expired', at: string) =>
      how === 'expired'
        ? `This key expired on ${at}, and a new secret would not work either. Send a later "expires_at" with PUT /keys/{id} first.`
        : `This key was revoked on ${at}, which cannot be undone. Create another with POST /keys.`,
  }),
  ...defineErrors('org_required', {
    orgRequired:
      '"scope" is "org", but no organization is named or active. Send "org_id", or POST /orgs/{id}/activate first.',
  }),
  ...defineErrors('forbidden', {
    personalFromOrgKey:
      "An organization's key can only create keys of that organization. Use a personal key or a session to create a personal one.",
    cannotWidenOwnKey: (field: string) =>
      `A key cannot loosen its own restrictions, and a restricted key cannot loosen those of other keys. This would loosen "${field}". ` +
      'Use a key without restrictions, or a session.',
    boundedKey: (what: 'create keys' | 'rotate other keys', field: string) =>
      `This key is restricted by "${field}", and another key could bypass that. So it cannot ${what}. ` +
      'Use a key without restrictions, or a session.',
    rotatedByMakerOnly:
      'A colleague created this key and its new secret would act as them, so only they can rotate it. Create a key of your own with POST /keys, and revoke this one with DELETE /keys/{id}.',
  }),
  ...defineErrors('validation_error', {
    limitAboveTier: (field: string, value: number, tier: Tier, max: number) =>
      `"${field}" is ${value}; tier ${tier} allows ${max} a minute, and a key's own limit can only lower that.`,
    ambiguousKey: (ref: string, ids: string[]) =>
      `${ids.length} keys match "${ref}": ${ids.join(', ')}. Name one by its id.`,
  }),
}
