import { AppError, defineError } from '../kernel/errors'

/** A rule, example or label with an error that the schema cannot express (docs/api.md 13). `path` is the member. */
export const preferenceInvalid = (path: string, message: string) =>
  new AppError('routing_preference_invalid', message, { param: path, details: [{ path, message }] })

export const belowThreshold = defineError(
  'routing_suggest_below_threshold',
  (mode: string, found: number, needed: number, days: number) =>
    `${found} of the ${needed} corrections that a suggestion needs were made for mode "${mode}" in the last ${days} days. Record more with POST /routing-corrections.`,
)

export const nothingToSuggest = defineError('not_found', (why: 'no corrections' | 'no rule', mode: string) =>
  why === 'no corrections'
    ? `No corrections for mode "${mode}" in the last 30 days. Record some with POST /routing-corrections.`
    : `The corrections for mode "${mode}" have too little in common for a safe rule.`,
)
