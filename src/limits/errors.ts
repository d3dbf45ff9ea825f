import type { Tier } from '../kernel/caller'
import { defineError } from '../kernel/errors'
import type { ModeGroup } from './limiter'
import type { IncreaseStatus } from './schema'

/** Where a limit comes from, phrased for the sentences of docs/operating.md 6.3 #10: `on tier free`. */
export type Source = string

export const rateLimitExceeded = defineError(
  'rate_limit_exceeded',
  (who: string, limit: number, source: Source, number: number, waitS: number) =>
    `${who} allows ${limit} requests a minute ${source}, and this is number ${number}. Try again in ${waitS} s.`,
)

export const modeRateLimitExceeded = defineError(
  'mode_rate_limit_exceeded',
  (group: ModeGroup, limit: number, source: Source, number: number, waitS: number) =>
    `${group === 'text' || group === 'stealth' ? `The ${group} modes together allow` : `Mode "${group}" allows`} ${limit} requests a minute ${source}, and this is number ${number}. ` +
    `Other modes still work. Try again in ${waitS} s.`,
)

export const tokenLimitExceeded = defineError(
  'token_limit_exceeded',
  (limit: number, source: Source, left: number, wanted: number, waitS: number) =>
    `${limit} tokens a minute are allowed ${source}, ${left} of them are left and this call counts ${wanted}. ` +
    `Try again in ${waitS} s.`,
)

/** The same code, for a call that can never fit, however long it waits. */
export const tokensNeverFit = defineError(
  'token_limit_exceeded',
  (limit: number, source: Source, wanted: number) =>
    `This call counts ${wanted} tokens, but only ${limit} a minute are allowed ${source}. It can never fit. ` +
    'Send a shorter prompt, ask for a shorter answer, or request a higher tier.',
)

export const tierNotHigher = defineError(
  'validation_error',
  (wanted: Tier, current: Tier) =>
    `"requested_tier" is "${wanted}", and your tier is ${current}. ${current === 'enterprise' ? 'There is no higher one.' : 'Request a higher one.'}`,
)

export const increasePending = defineError(
  'conflict',
  () => 'A request for a higher tier is already pending. GET /rate-limits shows it; wait for the decision.',
)

export const noActiveKey = defineError(
  'conflict',
  () => 'You have no active API key whose tier could change. Create one with POST /keys first.',
)

export const increaseNotFound = defineError('not_found', () => 'No limit increase request with this id.')

export const alreadyDecided = defineError(
  'conflict',
  (status: IncreaseStatus) => `This request is already ${status}. Its owner can send a new one.`,
)

export const reviewersOnly = defineError(
  'forbidden',
  () => 'Only platform reviewers, signed in to the dashboard, can decide on limit increases.',
)

export const ownRequest = defineError(
  'forbidden',
  () => 'You requested this limit increase yourself. Another reviewer or an operator has to decide on it.',
)
