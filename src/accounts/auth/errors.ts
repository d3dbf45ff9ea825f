import type { OperatorCaller } from '../../kernel/caller'
import { type AppError, defineError, defineErrors, invalidInput } from '../../kernel/errors'

const WHERE_FROM = 'Create a key with svc-admin keys create or POST /keys.'

export const authErrors = {
  ...defineErrors('invalid_api_key', {
    /** One answer for every well-formed key that fails, so that it does not reveal the reason (docs/attacks.md A20). */
    unknownKey: `This key does not work here: it is mistyped, revoked, expired or from another server. ${WHERE_FROM}`,
    noCredential: `No API key was sent. Send the header Authorization: Bearer svc_sk_… ${WHERE_FROM}`,
    notBearer: 'The Authorization header is not "Bearer", one space and a key. Send Authorization: Bearer svc_sk_…',
    notAKey: `The text after "Bearer" is not a key of this server. Keys start with "svc_sk_". ${WHERE_FROM}`,
    severalCredentials: 'The Authorization header has more than one value. Send one header with one key.',
    lineBreakInKey: 'The key ends with a line break. Remove it; in a shell, use $(cat data/dev-key).',
    foreignKey: (start: string) =>
      `The key starts with "${start}"; keys of this server start with "svc_sk_". ${WHERE_FROM}`,
    otherToken: `This is another kind of token, not an API key. API keys start with "svc_sk_". ${WHERE_FROM}`,
    /** This and the errors `sessionStopped` and `membershipStopped` end a started answer, without the exact cause. */
    keyStopped:
      'This key was revoked or expired before the answer was complete. You are charged for the part that was sent.',
  }),
  ...defineErrors('invalid_session', {
    sessionStopped:
      'This session ended before the answer was complete. You are charged for the part that was sent. Sign in again with POST /auth/sessions.',
    sessionNeeded:
      'This call ends a dashboard session, but it was sent with an API key. Revoke a key with DELETE /keys/{id}.',
    passwordNeedsSession:
      'You can only set a password in your own session, but this call used an API key. Sign in first.',
  }),
  ...defineErrors('forbidden', {
    membershipStopped:
      'Your access to the active organization ended before the answer was complete. You are charged for the part that was sent. Send the request again.',
    signUpClosed: 'Sign-up is closed on this server. Its operator can open it with SVC_SIGNUP=open.',
  }),
  ...defineErrors('invalid_credentials', {
    invalidCredentials: 'The e-mail address or the password is wrong.',
    wrongPassword: 'The current password is wrong. Nothing was changed.',
  }),
  ...defineErrors('invalid_token', {
    /** One answer for every link that does not work, so that it does not reveal the cause. */
    linkHasEnded: 'This link does not work. It was already used, has expired or is incomplete. Ask for a new one.',
  }),
  ...defineErrors('conflict', {
    passwordChangedMeanwhile:
      'Another change to the password was made at the same time, so this one was not saved. Sign in again.',
  }),
  ...defineErrors('rate_limit_exceeded', {
    tooManyAttempts: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  }),
  ...defineErrors('service_unavailable', {
    signInBusy: 'Too many sign-ins are being checked at the same time. Nothing was changed; try again shortly.',
  }),
  ...defineErrors('origin_not_allowed', {
    originNotAllowed: (origin: string) =>
      `Pages of ${origin} cannot use this key. Its owner can add the origin: PUT /keys/{id} {"allowed_origins":[…]}.`,
    crossSiteRequest:
      'With a session cookie only pages of this server may change data. Elsewhere send the token as Authorization: Bearer svc_ds_…',
  }),
}

export const invalidSession = defineError(
  'invalid_session',
  () => 'This session has ended or does not exist. Sign in again with POST /auth/sessions.',
)

export const currentNeeded = (): AppError =>
  invalidInput(
    'current',
    'Send the current password. Or sign in with a link; for the next 15 minutes you do not need the current password.',
  )

export const passwordNeeded = (): AppError =>
  invalidInput('new_password', 'This account has no password yet. Send the password you want. The link still works.')

const notConfirmed = defineError(
  'forbidden',
  () => 'This change needs a fresh proof that it is you. Send your password to POST /auth/confirm, then try again.',
)

/** Throws 403 `forbidden` for an operator in a browser whose last proof of identity is older than 15 minutes. */
export async function assertConfirmed({ isConfirmed }: OperatorCaller): Promise<void> {
  if (isConfirmed && !(await isConfirmed())) throw notConfirmed()
}
