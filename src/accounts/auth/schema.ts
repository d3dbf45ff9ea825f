import { OPERATOR_ROLES } from '../../kernel/caller'
import { OrgId, SessionId, UserId } from '../../kernel/ids'
import { namedObject, nullable, oneOf, type Static, Timestamp, t } from '../../kernel/schema'
import { Org, PERMISSIONS } from '../orgs/schema'

const Email = t.String({ format: 'email', maxLength: 254 })
const Chosen = t.String({ minLength: 8, maxLength: 200 })

/** Body of `POST /auth/signup`. */
export const SignUp = namedObject('SignUp', {
  email: Email,
  password: Chosen,
  name: t.Optional(nullable(t.String({ minLength: 1, maxLength: 128 }))),
})
export type SignUp = Static<typeof SignUp>

/** Body of `POST /auth/sessions`. A password that is too short gets the answer for a wrong one. */
export const SignIn = namedObject('SignIn', {
  email: t.String({ minLength: 1, maxLength: 254 }),
  password: t.String({ minLength: 1, maxLength: 1_000 }),
})
export type SignIn = Static<typeof SignIn>

export const User = namedObject('User', {
  id: UserId.schema,
  email: t.String(),
  name: nullable(t.String()),
  created: Timestamp,
})
export type User = Static<typeof User>

export const Session = namedObject('Session', {
  user: User,
  session_token: t.String({ description: 'svc_ds_…, to send as Authorization: Bearer. Shown once' }),
  expires_at: t.String({
    format: 'date-time',
    description: '12 hours after the last request; every request extends it',
  }),
})
export type Session = Static<typeof Session>

export const Me = namedObject('Me', {
  user: User,
  has_password: t.Boolean({ description: 'False if the account has no password, only sign-in links' }),
  confirmed_until: nullable(
    t.String({ format: 'date-time', description: 'Until when this session needs no password for sensitive changes' }),
  ),
  operator_role: nullable(oneOf(OPERATOR_ROLES, { description: 'Your role as an operator of this server' })),
  active_org_id: nullable(OrgId.schema),
  orgs: t.Array(t.Object({ ...Org.properties, permissions: t.Array(oneOf(PERMISSIONS)) })),
})
export type Me = Static<typeof Me>

/** Body of `PATCH /auth/me`. */
export const MePatch = namedObject('MePatch', {
  name: t.Optional(nullable(t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }))),
})
export type MePatch = Static<typeof MePatch>

/** Body of `POST /auth/confirm`. */
export const Confirm = namedObject('Confirmation', { password: t.String({ minLength: 1, maxLength: 1_000 }) })
export const Confirmed = t.Object({ confirmed_until: Timestamp })

export const OwnSessions = t.Object({
  sessions: t.Array(
    namedObject('OwnSession', {
      id: SessionId.schema,
      created: Timestamp,
      last_used_at: Timestamp,
      user_agent: nullable(t.String()),
      ip: nullable(t.String({ description: 'The address that opened it' })),
      current: t.Boolean({ description: 'True for the session of this request' }),
    }),
    { description: 'Open sessions, last used first' },
  ),
})
export type OwnSessions = Static<typeof OwnSessions>

export const EndedSessions = t.Object({ ended: t.Integer({ description: 'Number of sessions that were ended' }) })
export const EndQuery = t.Object({
  others: t.Optional(t.Literal('1', { description: 'End all your sessions but this one' })),
})

/** Body of `POST /auth/password`. */
export const NewPassword = namedObject('NewPassword', {
  current: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Can be left out for 15 minutes after signing in with a link',
    }),
  ),
  new: Chosen,
})
export type NewPassword = Static<typeof NewPassword>

export const PasswordSet = t.Object({ ended: t.Integer({ description: 'Number of sessions that were ended' }) })
export type PasswordSet = Static<typeof PasswordSet>

/** Body of `POST /auth/links`. */
export const LinkAsk = namedObject('SignInLinkRequest', { email: t.String({ minLength: 1, maxLength: 254 }) })
export type LinkAsk = Static<typeof LinkAsk>

export const LinkRequested = t.Object({
  accepted: t.Literal(true, { description: 'The same whether or not the address has an account' }),
})

/** Body of `POST /auth/links/redeem`. */
export const LinkUse = namedObject('SignInLinkUse', {
  token: t.String({ minLength: 1, maxLength: 200, description: 'The part of the link after #: svc_sl_…' }),
  new_password: t.Optional(Chosen),
})
export type LinkUse = Static<typeof LinkUse>

export const SignedOut = namedObject('SignedOut', {
  deleted: t.Literal(true),
  ended: t.Optional(t.Integer({ description: 'With `others`: how many were ended' })),
})
