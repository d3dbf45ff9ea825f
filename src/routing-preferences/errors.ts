import { AppError, defineError, notFound, quoted } from '../kernel/errors'

/** A rule, example or label that is wrong in a way the schema cannot express (contract 13). `path` is the member. */
export const preferenceInvalid = (path: string, message: string) =>
  new AppError('invalid', 'routing_preference_invalid', message, { param: path, details: [{ path, message }] })

export const preferenceNotFound = () => notFound('routing preference')

export const defaultTaken = defineError(
  'conflict',
  'conflict',
  (scope: string, name: string | null) =>
    `${name === null ? 'Another one' : `"${quoted(name)}"`} is already the default routing preference of scope ${scope}. ` +
    'Send "is_default":false to that one first.',
)

export const tooManyPreferences = defineError(
  'conflict',
  'conflict',
  (most: number) =>
    `This scope has ${most} routing preferences, the most allowed here (SVC_MAX_PREFERENCES). DELETE one of them first.`,
)

export const teamWithoutOrg = defineError(
  'invalid',
  'org_required',
  () => '"scope" is "team", but no organization is active. POST /orgs/{id}/activate first, or send "personal".',
)

export const personalByOrgKey = defineError(
  'forbidden',
  'missing_scope',
  () =>
    'An organization\'s key can only create preferences of scope "team". Use a personal key or a session for "personal".',
)

export const teamForbidden = defineError(
  'forbidden',
  'missing_scope',
  () => 'Preferences of scope "team" need the permission manageWebhooks in the organization. An owner or admin has it.',
)

export const belowThreshold = defineError(
  'invalid',
  'routing_suggest_below_threshold',
  (mode: string, found: number, needed: number, days: number) =>
    `${found} of the ${needed} corrections that a suggestion needs were made for mode "${mode}" in the last ${days} days. Record more with POST /routing-corrections.`,
)

export const nothingToSuggest = defineError(
  'missing',
  'not_found',
  (why: 'no corrections' | 'no rule', mode: string) =>
    why === 'no corrections'
      ? `No corrections for mode "${mode}" in the last 30 days. Record some with POST /routing-corrections.`
      : `The corrections for mode "${mode}" have too little in common for a safe rule.`,
)
