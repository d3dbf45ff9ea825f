/** Auth: finds the caller of a request from its headers; sign-up, sign-in and sign-out. */
export { startAccessLoop } from './access-loop'
export { type AccessWatch, createAccessWatch } from './access-watch'
export { createAttempts } from './attempts'
export { createAuthenticator } from './authenticate'
export { createSignInLinks, type SignInLinks } from './links'
export { assertOrigin, assertOwnPage, type BrowserHeaders } from './origin'
export { createPasswords } from './passwords'
export { endedCookie, sessionCookie } from './rules'

export { type AuthService, createAuth, type Visit } from './service'
export { expiredSessions, removeExpiredSessions, startSessionLoop, writeSessionUses } from './session-loop'
export { createSessions, type Sessions } from './sessions'
export { type Behalf, behalfOf, createUnattended, type Unattended } from './unattended'
