import { Invitation, Member, NewOrg, ORG_TYPES, Org, OrgPatch, PLATFORM_ROLES, ROLES } from '../accounts/orgs/schema'
import { OrgId, SessionId, UserId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

/** A user by id or e-mail address. */
const Ref = t.String({ minLength: 1, maxLength: 320 })
const PlanNote = nullable(t.String({ maxLength: 500, description: "The operators' note about the plan" }))

const { role: _role, ...orgFields } = Org.properties

/** An org as operators see it. */
export const OperatorOrg = t.Object({
  ...orgFields,
  plan_note: PlanNote,
  suspended_at: nullable(Timestamp),
  deleted_at: nullable(Timestamp),
})
export type OperatorOrg = Static<typeof OperatorOrg>
export const OperatorOrgPage = pageOf('orgs', OperatorOrg)

/** With members, keys and balance: shown before an org is deleted (dx 2.9). */
export const OrgDetail = t.Object({
  ...OperatorOrg.properties,
  key_count: t.Integer({ description: 'Number of keys that are not revoked' }),
  balance_cents: t.Number(),
  held_cents: t.Number(),
})
export type OrgDetail = Static<typeof OrgDetail>

export const NewOperatorOrg = t.Object({
  ...NewOrg.properties,
  plan_note: t.Optional(PlanNote),
  owner: t.Optional(Ref),
})
export type NewOperatorOrg = Static<typeof NewOperatorOrg>

export const OperatorOrgPatch = t.Object({
  ...OrgPatch.properties,
  type: t.Optional(oneOf(ORG_TYPES)),
  plan_note: t.Optional(PlanNote),
})
export type OperatorOrgPatch = Static<typeof OperatorOrgPatch>

export const NewMember = t.Object({ user: Ref, role: oneOf(ROLES) })
export type NewMember = Static<typeof NewMember>

/** An invitation with its token, which is never shown again. */
export const IssuedInvitation = t.Object({
  ...Invitation.properties,
  object: t.Literal('invitation'),
  org_id: OrgId.schema,
  token: t.String({ description: 'svc_iv_…, for POST /invitations/{token}/accept. Shown once' }),
})
export type IssuedInvitation = Static<typeof IssuedInvitation>

export const OperatorUser = t.Object({
  id: UserId.schema,
  object: t.Literal('user'),
  email: t.String(),
  name: nullable(t.String()),
  platform_role: nullable(oneOf(PLATFORM_ROLES)),
  active_org_id: nullable(OrgId.schema),
  disabled_at: nullable(Timestamp),
  created: Timestamp,
})
export type OperatorUser = Static<typeof OperatorUser>
export const OperatorUserPage = pageOf('users', OperatorUser)

/** With the user's orgs and roles, and the number of open sessions. */
export const UserDetail = t.Object({
  ...OperatorUser.properties,
  orgs: t.Array(t.Object({ id: OrgId.schema, slug: t.String(), role: Member.properties.role })),
  session_count: t.Integer(),
})
export type UserDetail = Static<typeof UserDetail>

export const NewOperatorUser = t.Object({
  email: t.String({ format: 'email', maxLength: 254 }),
  name: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
  platform_role: t.Optional(oneOf(PLATFORM_ROLES)),
  /** Generated, and shown once, when left out. */
  password: t.Optional(t.String({ minLength: 8, maxLength: 200 })),
  link: t.Optional(t.Boolean({ description: 'Create a sign-in link instead of a password' })),
})
export type NewOperatorUser = Static<typeof NewOperatorUser>

export const CreatedUser = t.Object({
  ...OperatorUser.properties,
  password: nullable(t.String({ description: 'The generated password, if none was sent. Shown once' })),
  sign_in_link: nullable(t.String({ description: 'Works once, within 24 hours. Shown once' })),
})
export type CreatedUser = Static<typeof CreatedUser>

export const ConsoleLinkInput = t.Object({
  ttl_minutes: t.Optional(
    t.Integer({ minimum: 1, maximum: 1_440, description: 'How long the link works; default 15 minutes' }),
  ),
  to: t.Optional(
    t.String({ pattern: '^/[a-z][\\w/-]*$', maxLength: 200, description: 'Path of the page it opens; default /home' }),
  ),
})
export type ConsoleLinkInput = Static<typeof ConsoleLinkInput>
export const ConsoleLink = t.Object({
  url: t.String({ description: 'Signs this person in once. Shown once' }),
  expires_at: Timestamp,
})
export type ConsoleLink = Static<typeof ConsoleLink>

export const PasswordInput = t.Object({
  /** Generated, and shown once, when left out. */
  password: t.Optional(t.String({ minLength: 8, maxLength: 200 })),
})
export type PasswordInput = Static<typeof PasswordInput>
export const PasswordReset = t.Object({
  email: t.String(),
  password: nullable(t.String({ description: 'The generated password, if none was sent. Shown once' })),
  ended: t.Integer({ description: 'Number of sessions that were ended' }),
})
export type PasswordReset = Static<typeof PasswordReset>

export const UserPatch = t.Object({ disabled: t.Boolean() })

export const OpenSession = t.Object({
  id: SessionId.schema,
  object: t.Literal('session'),
  user_id: UserId.schema,
  created: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
})
export type OpenSession = Static<typeof OpenSession>
export const SessionList = t.Object({ sessions: t.Array(OpenSession) })

export const PeopleQuery = t.Object(PageQuery.properties)
