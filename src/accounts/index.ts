/** Who may call: organizations and their members, keys, sign-in and settings. */
export { type AccessWatch, createAccessWatch, startAccessLoop } from './auth/access-loop'
export { createAttempts } from './auth/attempts'
export { createSignInSteps, type VisitorCall } from './auth/entry'
export { assertConfirmed, invalidSession } from './auth/errors'
export { createSignInLinks, type SignInLinks } from './auth/links'
export { createPasswords } from './auth/passwords'
export {
  assertOrigin,
  assertOwnPage,
  type BrowserHeaders,
  createAuthenticator,
  endedCookie,
  sessionCookie,
} from './auth/rules'
export { type AuthService, createAuth } from './auth/service'
export {
  type ActingIdentity,
  actingIdentityOf,
  type BackgroundCallers,
  createBackgroundCallers,
  createSessions,
  createSessionUses,
  expiredSessions,
  removeExpiredSessions,
  type Sessions,
} from './auth/sessions'
export type { BindableKey, KeyBindings } from './keys/bindings'
export { keySettings } from './keys/config'
export {
  createKeyLookup,
  createKeyUses,
  mintSecret,
  recogniseSecret,
  startUsesLoop,
} from './keys/lookup'
export type { TieredKey, TierSubject } from './keys/service'
export { createKeys, type KeyService } from './keys/service'
export { actingIn } from './orgs/access'
export { accessChanged, memberJoined, orgDeleted } from './orgs/events'
export type { OpenInvitation } from './orgs/members'
export { actingUserOf, findOwner, type Owner, ownerToRead } from './orgs/owner'
export { mayDo, normalizeEmail, operatorRoleOf, teamOf } from './orgs/rules'
export { createOrgs, type OrgService } from './orgs/service'
export { createSettings, type SettingsService } from './settings'
export type { Settings } from './settings-schema'
export { createUsers, namesOf } from './users'
