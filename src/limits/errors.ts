import type { Tier } from '../kernel/caller'
import { defineErrors } from '../kernel/errors'
import type { ModeGroup } from './limiter'
import type { IncreaseStatus } from './schema'

export const limitErrors = {
  ...defineErrors('rate_limit_exceeded', {
    rateLimitExceeded: (who: string, limit: number, source: Source, number: number, waitS: number) =>
      `${who} allows ${limit} requests a minute ${source}, and this is number ${number}. Try again in ${waitS} s.`,
  }),
  ...defineErrors('mode_rate_limit_exceeded', {
    modeRateLimitExceeded: (group: ModeGroup, limit: number, source: Source, number: number, waitS: number) =>
      `${group === 'text' || group === 'stealth' ? `The ${group} modes together allow` : `Mode "${group}" allows`} ${limit} requests a minute ${source}, and this is number ${number}. ` +
      `Other modes still work. Try again in ${waitS} s.`,
  }),
  ...defineErrors('token_limit_exceeded', {
    tokenLimitExceeded: (limit: number, source: Source, left: number, wanted: number, waitS: number) =>
      `${limit} tokens a minute are allowed ${source}, ${left} of them are left and this call counts ${wanted}. ` +
      `Try again in ${waitS} s.`,
    /** The same code, for a call that can never fit, however long it waits. */
    tokensNeverFit: (limit: number, source: Source, wanted: number) =>
      `This call counts ${wanted} tokens, but only ${limit} a minute are allowed ${source}. It can never fit. ` +
      'Send a shorter prompt, ask for a shorter answer, or request a higher tier.',
  }),
  ...defineErrors('validation_error', {
    tierNotHigher: (wanted: Tier, current: Tier) =>
      `"requested_tier" is "${wanted}", and your tier is ${current}. ${current === 'enterprise' ? 'There is no higher one.' : 'Request a higher one.'}`,
  }),
  ...defineErrors('conflict', {
    increasePending:
      'A request for a higher tier is already pending. GET /rate-limits shows it; wait for the decision.',
    noActiveKey: 'You have no active API key whose tier could change. Create one with POST /keys first.',
    alreadyDecided: (status: IncreaseStatus) => `This request is already ${status}. Its owner can send a new one.`,
  }),
  ...defineErrors('not_found', {
    increaseNotFound: 'No limit increase request with this id.',
  }),
  ...defineErrors('forbidden', {
    reviewersOnly: 'Only platform reviewers, signed in to the dashboard, can decide on limit increases.',
    ownRequest: 'You requested this limit increase yourself. Another reviewer or an operator has to decide on it.',
  }),
}

/** Where a limit comes from, phrased for the sentences of docs/operating.md 6.3 #10: `on tier free`. */
export type Source = string
