import { AppError } from '../kernel/errors'

/** 400 `guardrail_policy_invalid`. `path` is the invalid member, such as `rules[0].config.terms`. */
export const policyInvalid = (path: string, sentence: string) =>
  new AppError('guardrail_policy_invalid', sentence, {
    param: path,
    details: [{ path, message: sentence }],
  })

export const foreignToKey = (sentence: string) =>
  new AppError('validation_error', sentence, {
    param: 'guardrail_policy_id',
    details: [{ path: 'guardrail_policy_id', message: sentence }],
  })

/** An input that a rule blocks. `message` is the policy author's text for it, `path` the field of the request. */
export const guardrailBlocked = (guardrailId: string, message: string | null, path: string, detail: string) =>
  new AppError(
    'guardrail_blocked',
    message ?? `The guardrail ${guardrailId} blocked this request. Change it and send it again; nothing was charged.`,
    { param: path, details: [{ path, message: `${guardrailId}: ${detail}` }] },
  )
