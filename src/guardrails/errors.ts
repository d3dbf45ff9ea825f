import { AppError, defineError } from '../kernel/errors'
import type { Role } from '../orgs/schema'

export const policyNotFound = defineError('missing', 'not_found', () => 'No guardrail policy with this id.')

/** `path` is the member that is wrong, such as `rules[0].config.terms`. */
export const policyInvalid = (path: string, sentence: string) =>
  new AppError('invalid', 'guardrail_policy_invalid', sentence, {
    param: path,
    details: [{ path, message: sentence }],
  })

export const teamNeedsOrg = () =>
  new AppError(
    'invalid',
    'org_required',
    '"scope" is "team" and no organization is active. Activate one with POST /orgs/{id}/activate, or send "personal".',
    { param: 'scope' },
  )

/** 403 `missing_scope`, the only 403 these routes have (contract 1.2). */
export const teamNeedsPermission = defineError(
  'forbidden',
  'missing_scope',
  (role: Role | null) =>
    `Team policies need the permission manageWebhooks, and your role in the organization is ${role ?? 'none'}. ` +
    'An owner or admin of the organization can do it or change your role.',
)

/** A policy contains the key it is bound to as a cap does. The code is the only one for a 403 here. */
export const keyIsBound = defineError(
  'forbidden',
  'missing_scope',
  () =>
    'This policy is bound to this key, so the key can neither change nor delete it. Use a session, or a key the policy ' +
    'is not bound to.',
)

export const personalFromOrgKey = defineError(
  'forbidden',
  'missing_scope',
  () =>
    'An organization\'s key can only create team policies. Leave "scope" out, or use a personal key or a session for a personal one.',
)

export const tooManyPolicies = defineError(
  'conflict',
  'conflict',
  (most: number) =>
    `This scope has ${most} guardrail policies, the most allowed here (SVC_MAX_POLICIES). DELETE one of them first.`,
)

export const defaultTaken = defineError(
  'conflict',
  'conflict',
  (name: string | null) =>
    `${name === null ? 'Another policy' : `"${name}"`} is already the default policy of this scope, and a scope has at most one. ` +
    'PATCH it with {"is_default":false} first.',
)

export const foreignToKey = (sentence: string) =>
  new AppError('invalid', 'validation_error', sentence, {
    param: 'guardrail_policy_id',
    details: [{ path: 'guardrail_policy_id', message: sentence }],
  })

/** An input that a rule blocks; `message` is the policy author's text for it, `path` the field of the request. */
export const guardrailBlocked = (guardrailId: string, message: string | null, path: string, detail: string) =>
  new AppError(
    'invalid',
    'guardrail_blocked',
    message ?? `The guardrail ${guardrailId} blocked this request. Change it and send it again; nothing was charged.`,
    { param: path, details: [{ path, message: `${guardrailId}: ${detail}` }] },
  )
