import { AppError, defineError, quoted } from '../kernel/errors'

export const tooManyActive = defineError(
  'conflict',
  (max: number) =>
    `This scope has ${max} enabled webhooks, which is the maximum here (SVC_MAX_ACTIVE_WEBHOOKS). Disable or delete one first.`,
)

export const isDisabled = defineError(
  'conflict',
  () => 'This webhook is disabled, so nothing is sent to it. PATCH it with {"enabled":true} first.',
)

export const notListening = defineError(
  'conflict',
  () => 'This webhook has an address, so you cannot listen to it. To listen, POST a webhook with {"url":"listen:"}.',
)

/** For a private address, often the first attempt. Names a way without a public address (docs/operating.md 6.3). */
export const addressOfOwn = defineError(
  'url_blocked',
  (url: string) =>
    `${quoted(url)} is private, but webhooks can only go to public addresses. To test on this machine run: svc-admin webhooks listen --forward-to ${quoted(url)}`,
)

export const hasSucceeded = defineError(
  'conflict',
  () => 'This delivery succeeded; only one that failed can be retried.',
)

export const isGone = defineError(
  'conflict',
  () => 'The event of this delivery is no longer stored, so it cannot be sent again.',
)

/** docs/attacks.md J35. */
export const tooManyTests = (max: number, retryAfterS: number) =>
  new AppError(
    'rate_limit_exceeded',
    `You can test a webhook at most ${max} times a minute. Try again in ${retryAfterS} seconds.`,
    { retryAfterS },
  )
