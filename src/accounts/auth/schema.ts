import { OPERATOR_ROLES } from '../../kernel/caller'
import { OrgId, SessionId, UserId } from '../../kernel/ids'
import { nullable, oneOf, type Static, Timestamp, t } from '../../kernel/schema'
import { Org, PERMISSIONS } from '../orgs/schema'

const Email = t.String({ format: 'email', maxLength: 254 })
const Chosen = t.String({ minLength: 8, maxLength: 200 })

/** Body of `POST /auth/signup`. */
export const SignUp = t.Object(
  { email: Email, password: Chosen, name: t.Optional(nullable(t.String({ minLength: 1, maxLength: 128 }))) },
  { $id: 'SignUp' },
)
export type SignUp = Static<typeof SignUp>

/** Body of `POST /auth/sessions`. A password that is too short gets the answer for a wrong one. */
export const SignIn = t.Object(
  { email: t.String({ minLength: 1, maxLength: 254 }), password: t.String({ minLength: 1, maxLength: 1_000 }) },
  { $id: 'SignIn' },
)
export type SignIn = Static<typeof SignIn>

export const User = t.Object(
  { id: UserId.schema, email: t.String(), name: nullable(t.String()), created: Timestamp },
  { $id: 'User' },
)
export type User = Static<typeof User>

export const Session = t.Object(
  {
    user: User,
    session_token: t.String({ description: 'svc_ds_…, to send as Authorization: Bearer. Shown once' }),
    expires_at: t.String({
      format: 'date-time',
      description: '12 hours after the last request; every request extends it',
    }),
  },
  { $id: 'Session' },
)
export type Session = Static<typeof Session>

export const Me = t.Object(
  {
    user: User,
    has_password: t.Boolean({ description: 'False if the account has no password, only sign-in links' }),
    confirmed_until: nullable(
      t.String({ format: 'date-time', description: 'Until when this session needs no password for sensitive changes' }),
    ),
    operator_role: nullable(oneOf(OPERATOR_ROLES, { description: 'Your role as an operator of this server' })),
    active_org_id: nullable(OrgId.schema),
    orgs: t.Array(t.Object({ ...Org.properties, permissions: t.Array(oneOf(PERMISSIONS)) })),
  },
  { $id: 'Me' },
)
export type Me = Static<typeof Me>

/** Body of `PATCH /auth/me`. */
export const MePatch = t.Object(
  { name: t.Optional(nullable(t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }))) },
  { $id: 'MePatch' },
)
export type MePatch = Static<typeof MePatch>

/** Body of `POST /auth/confirm`. */
export const Confirm = t.Object({ password: t.String({ minLength: 1, maxLength: 1_000 }) }, { $id: 'Confirmation' })
export const Confirmed = t.Object({ confirmed_until: Timestamp })

export const OwnSessions = t.Object({
  sessions: t.Array(
    t.Object(
      {
        id: SessionId.schema,
        created: Timestamp,
        last_used_at: Timestamp,
        user_agent: nullable(t.String()),
        ip: nullable(t.String({ description: 'The address that opened it' })),
        current: t.Boolean({ description: 'True for the session of this request' }),
      },
      { $id: 'OwnSession' },
    ),
    { description: 'Open sessions, last used first' },
  ),
})
export type OwnSessions = Static<typeof OwnSessions>

export const EndedSessions = t.Object({ ended: t.Integer({ description: 'Number of sessions that were ended' }) })
export const EndQuery = t.Object({
  others: t.Optional(t.Literal('1', { description: 'End all your sessions but this one' })),
})

/** Body of `POST /auth/password`. */
export const NewPassword = t.Object(
  {
    current: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'Can be left out for 15 minutes after signing in with a link',
      }),
    ),
    new: Chosen,
  },
  { $id: 'NewPassword' },
)
export type NewPassword = Static<typeof NewPassword>

export const PasswordSet = t.Object({ ended: t.Integer({ description: 'Number of sessions that were ended' }) })
export type PasswordSet = Static<typeof PasswordSet>

/** Body of `POST /auth/links`. */
export const LinkAsk = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, { $id: 'SignInLinkRequest' })
export type LinkAsk = Static<typeof LinkAsk>

export const LinkRequested = t.Object({
  accepted: t.Literal(true, { description: 'The same whether or not the address has an account' }),
})

/** Body of `POST /auth/links/redeem`. */
export const LinkUse = t.Object(
  {
    token: t.String({ minLength: 1, maxLength: 200, description: 'The part of the link after #: svc_sl_…' }),
    new_password: t.Optional(Chosen),
  },
  { $id: 'SignInLinkUse' },
)
export type LinkUse = Static<typeof LinkUse>

export const SignedOut = t.Object(
  { deleted: t.Literal(true), ended: t.Optional(t.Integer({ description: 'With `others`: how many were ended' })) },
  { $id: 'SignedOut' },
)
