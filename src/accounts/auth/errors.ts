import type { OperatorCaller } from '../../kernel/caller'
import { type AppError, defineError, invalidInput } from '../../kernel/errors'

const WHERE_FROM = 'Create a key with svc-admin keys create or POST /keys.'

/** One answer for every well-formed key that fails, so that it does not reveal the reason (docs/attacks.md A20). */
export const unknownKey = defineError(
  'invalid_api_key',
  () => `This key does not work here: it is mistyped, revoked, expired or from another server. ${WHERE_FROM}`,
)

export const noCredential = defineError(
  'invalid_api_key',
  () => `No API key was sent. Send the header Authorization: Bearer svc_sk_… ${WHERE_FROM}`,
)

export const notBearer = defineError(
  'invalid_api_key',
  () => 'The Authorization header is not "Bearer", one space and a key. Send Authorization: Bearer svc_sk_…',
)

export const notAKey = defineError(
  'invalid_api_key',
  () => `The text after "Bearer" is not a key of this server. Keys start with "svc_sk_". ${WHERE_FROM}`,
)

export const severalCredentials = defineError(
  'invalid_api_key',
  () => 'The Authorization header has more than one value. Send one header with one key.',
)

export const lineBreakInKey = defineError(
  'invalid_api_key',
  () => 'The key ends with a line break. Remove it; in a shell, use $(cat data/dev-key).',
)

export const foreignKey = defineError(
  'invalid_api_key',
  (start: string) => `The key starts with "${start}"; keys of this server start with "svc_sk_". ${WHERE_FROM}`,
)

export const otherToken = defineError(
  'invalid_api_key',
  () => `This is another kind of token, not an API key. API keys start with "svc_sk_". ${WHERE_FROM}`,
)

export const invalidSession = defineError(
  'invalid_session',
  () => 'This session has ended or does not exist. Sign in again with POST /auth/sessions.',
)

/** The next three end an answer that already started. Like {@link unknownKey}, they do not reveal the exact cause. */
export const keyStopped = defineError(
  'invalid_api_key',
  () => 'This key was revoked or expired before the answer was complete. You are charged for the part that was sent.',
)

export const sessionStopped = defineError(
  'invalid_session',
  () =>
    'This session ended before the answer was complete. You are charged for the part that was sent. Sign in again with POST /auth/sessions.',
)

export const membershipStopped = defineError(
  'forbidden',
  () =>
    'Your access to the active organization ended before the answer was complete. You are charged for the part that was sent. Send the request again.',
)

export const sessionNeeded = defineError(
  'invalid_session',
  () => 'This call ends a dashboard session, but it was sent with an API key. Revoke a key with DELETE /keys/{id}.',
)

export const invalidCredentials = defineError(
  'invalid_credentials',
  () => 'The e-mail address or the password is wrong.',
)

export const wrongPassword = defineError(
  'invalid_credentials',
  () => 'The current password is wrong. Nothing was changed.',
)

export const passwordNeedsSession = defineError(
  'invalid_session',
  () => 'You can only set a password in your own session, but this call used an API key. Sign in first.',
)

export const currentNeeded = (): AppError =>
  invalidInput(
    'current',
    'Send the current password. Or sign in with a link; for the next 15 minutes you do not need the current password.',
  )

/** One answer for every link that does not work, so that it does not reveal the cause. */
export const linkHasEnded = defineError(
  'invalid_token',
  () => 'This link does not work. It was already used, has expired or is incomplete. Ask for a new one.',
)

export const passwordNeeded = (): AppError =>
  invalidInput('new_password', 'This account has no password yet. Send the password you want. The link still works.')

export const passwordChangedMeanwhile = defineError(
  'conflict',
  () => 'Another change to the password was made at the same time, so this one was not saved. Sign in again.',
)

export const signUpClosed = defineError(
  'forbidden',
  () => 'Sign-up is closed on this server. Its operator can open it with SVC_SIGNUP=open.',
)

export const tooManyAttempts = defineError(
  'rate_limit_exceeded',
  (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
)

export const signInBusy = defineError(
  'service_unavailable',
  () => 'Too many sign-ins are being checked at the same time. Nothing was changed; try again shortly.',
)

export const originNotAllowed = defineError(
  'origin_not_allowed',
  (origin: string) =>
    `Pages of ${origin} cannot use this key. Its owner can add the origin: PUT /keys/{id} {"allowed_origins":[…]}.`,
)

export const crossSiteRequest = defineError(
  'origin_not_allowed',
  () =>
    'With a session cookie only pages of this server may change data. Elsewhere send the token as Authorization: Bearer svc_ds_…',
)

const notConfirmed = defineError(
  'forbidden',
  () => 'This change needs a fresh proof that it is you. Send your password to POST /auth/confirm, then try again.',
)

/** Throws 403 `forbidden` for an operator in a browser whose last proof of identity is older than 15 minutes. */
export async function assertConfirmed({ isConfirmed }: OperatorCaller): Promise<void> {
  if (isConfirmed && !(await isConfirmed())) throw notConfirmed()
}
