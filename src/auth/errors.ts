import { type AppError, defineError, invalidInput } from '../kernel/errors'

const WHERE_FROM = 'Create a key with svc-admin keys create or POST /keys.'

/** The same answer for every well-formed key that does not work, whatever the reason (A20). */
export const unknownKey = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => `This key does not work here: it is mistyped, revoked, expired or from another server. ${WHERE_FROM}`,
)

export const noCredential = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => `No API key was sent. Send the header Authorization: Bearer svc_sk_… ${WHERE_FROM}`,
)

export const notBearer = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => 'The Authorization header is not "Bearer", one space and a key. Send Authorization: Bearer svc_sk_…',
)

export const notAKey = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => `What follows "Bearer" is not a key of this server: those start with "svc_sk_". ${WHERE_FROM}`,
)

export const severalCredentials = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => 'The Authorization header holds more than one value. Send one header with one key.',
)

export const lineBreakInKey = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => 'The key has a line break at the end. Remove it; in a shell, $(cat data/dev-key) does.',
)

export const foreignKey = defineError(
  'unauthenticated',
  'invalid_api_key',
  (start: string) => `The key starts with "${start}"; keys of this server start with "svc_sk_". ${WHERE_FROM}`,
)

export const otherToken = defineError(
  'unauthenticated',
  'invalid_api_key',
  () => `That is a token of another part of this server, not an API key: those start with "svc_sk_". ${WHERE_FROM}`,
)

export const invalidSession = defineError(
  'unauthenticated',
  'invalid_session',
  () => 'This session has ended or does not exist. Sign in again with POST /auth/sessions.',
)

/** These three end an answer that had begun; the cause is not told apart, as in {@link unknownKey}. */
export const keyStopped = defineError(
  'unauthenticated',
  'invalid_api_key',
  () =>
    'This key stopped working before the answer was complete: it was revoked or has expired. What was sent is charged.',
)

export const sessionStopped = defineError(
  'unauthenticated',
  'invalid_session',
  () =>
    'This session ended before the answer was complete. What was sent is charged; sign in again with POST /auth/sessions.',
)

export const membershipStopped = defineError(
  'forbidden',
  'forbidden',
  () =>
    'Your access to the active organization ended before the answer was complete. What was sent is charged; send the request again.',
)

export const sessionNeeded = defineError(
  'unauthenticated',
  'invalid_session',
  () => 'This call ends a dashboard session, but it was sent with an API key. Revoke a key with DELETE /keys/{id}.',
)

export const invalidCredentials = defineError(
  'unauthenticated',
  'invalid_credentials',
  () => 'The e-mail address or the password is wrong.',
)

export const wrongPassword = defineError(
  'unauthenticated',
  'invalid_credentials',
  () => 'The current password is wrong. Nothing was changed.',
)

export const passwordNeedsSession = defineError(
  'unauthenticated',
  'invalid_session',
  () =>
    'A person sets their password in a session of their own, and this call was sent with an API key. Sign in first.',
)

export const currentNeeded = (): AppError =>
  invalidInput('current', 'Send the current password, or sign in by a link: for 15 minutes it is not needed then.')

/** Said of every link that signs nobody in; the cause is not told apart. */
export const linkOver = defineError(
  'unauthenticated',
  'invalid_token',
  () => 'This link does not work: it was used before, its time is over, or it is not whole. Ask for a new one.',
)

export const passwordNeeded = (): AppError =>
  invalidInput('new_password', 'This account has no password yet. Send the one that you choose. The link still works.')

export const passwordChangedMeanwhile = defineError(
  'conflict',
  'conflict',
  () => 'The password was changed at the same time, and this change was not made. Sign in again.',
)

export const signUpClosed = defineError(
  'forbidden',
  'forbidden',
  () => 'Sign-up is closed on this server. Its operator can open it with SVC_SIGNUP=open.',
)

export const tooManyAttempts = defineError(
  'throttled',
  'rate_limit_exceeded',
  (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
)

export const signInBusy = defineError(
  'unavailable',
  'service_unavailable',
  () => 'Too many sign-ins are being checked at the same time. Nothing was changed; try again shortly.',
)

export const originNotAllowed = defineError(
  'forbidden',
  'origin_not_allowed',
  (origin: string) =>
    `This key may not be used by pages of ${origin}. Its owner can add the origin: PUT /keys/{id} {"allowed_origins":[…]}.`,
)

export const crossSiteRequest = defineError(
  'forbidden',
  'origin_not_allowed',
  () =>
    'With a session cookie only pages of this server may change data. Elsewhere send the token as Authorization: Bearer svc_ds_…',
)
