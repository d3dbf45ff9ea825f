import { OPERATOR_ROLES } from '../../kernel/caller'
import { form } from '../../kernel/form'
import { defineId, type Id, OrgId, SessionId, UserId } from '../../kernel/ids'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../../kernel/schema'

/** An org by id, slug or name, or a user by id or e-mail address, as operators name them (docs/operating.md 2.1). */
export const OwnerRef = t.String({ minLength: 1, maxLength: 320 })
export const OwnerQuery = t.Object({ owner: t.Optional(OwnerRef) })

export const InvitationId = defineId('invitation')
export type InvitationId = Id<'invitation'>

export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** What a role may do in its org (docs/api.md 1.2). */
export const PERMISSIONS = [
  'manageWebhooks',
  'manageApiKeys',
  'manageBilling',
  'manageMembers',
  'manageConnectors',
  'manageSkills',
  'viewUsage',
  'viewAudit',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** A server-wide role that some users have besides their org roles (docs/api.md 1.2). */
export const PLATFORM_ROLES = ['reviewer', 'security_reviewer', 'admin'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

export const ORG_TYPES = ['team', 'agency', 'carrier', 'fmo', 'mga', 'broker'] as const
export type OrgType = (typeof ORG_TYPES)[number]

const SLUG_PATTERN = form(
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  'lower-case letters and digits with single hyphens in between, such as my-team',
)

/** An organization as one of its members sees it (docs/api.md 18.4). */
export const Org = namedObject('Organization', {
  id: OrgId.schema,
  object: t.Literal('organization'),
  name: t.String(),
  slug: t.String(),
  type: oneOf(ORG_TYPES),
  role: oneOf(ROLES, { description: 'Your role in it' }),
  member_count: t.Integer(),
  created: Timestamp,
  updated: Timestamp,
})
export type Org = Static<typeof Org>

export const OrgPage = pageOf('organizations', Org)

const Name = t.String({ minLength: 1, maxLength: 128, pattern: '\\S' })
const Slug = t.String({ minLength: 1, maxLength: 64, pattern: SLUG_PATTERN })
const Email = t.String({ format: 'email', maxLength: 254 })

/** Body of `POST /orgs`. */
export const NewOrg = namedObject('NewOrganization', {
  name: Name,
  slug: t.Optional(Slug),
  type: t.Optional(oneOf(ORG_TYPES)),
})
export type NewOrg = Static<typeof NewOrg>

/** Body of `PATCH /orgs/{id}`; missing members stay unchanged. */
export const OrgPatch = namedObject('OrganizationPatch', { name: t.Optional(Name), slug: t.Optional(Slug) })
export type OrgPatch = Static<typeof OrgPatch>

export const Member = namedObject('Member', {
  user_id: UserId.schema,
  name: nullable(t.String()),
  email: t.String(),
  role: oneOf(ROLES),
  joined_at: Timestamp,
  last_seen_at: nullable({
    ...Timestamp,
    description: 'Last use of a session. Null for callers without manageMembers',
  }),
  active_keys: nullable(
    t.Integer({ description: 'Working keys they made in the organization. Null for callers without manageMembers' }),
  ),
})
export type Member = Static<typeof Member>

export const MemberList = t.Object({ members: t.Array(Member) })
export const MemberReply = t.Object({ member: Member })
export const MemberPatch = namedObject('MemberPatch', { role: oneOf(ROLES) })
export type MemberPatch = Static<typeof MemberPatch>

/** Body of `POST /orgs/{id}/invitations`. */
export const NewInvitation = namedObject('NewInvitation', { email: Email, role: oneOf(ROLES) })
export type NewInvitation = Static<typeof NewInvitation>

export const Invitation = namedObject('Invitation', {
  id: InvitationId.schema,
  email: t.String(),
  role: oneOf(ROLES),
  status: oneOf(['pending', 'accepted', 'expired'] as const),
  expires_at: Timestamp,
})
export type Invitation = Static<typeof Invitation>

export const InvitationReply = t.Object({
  invitation: Invitation,
  token: t.String({ description: 'svc_iv_…, for POST /invitations/{token}/accept. Shown once' }),
})
export const InvitationList = t.Object({ invitations: t.Array(Invitation) })
export const ResentInvitation = t.Object({
  invitation: Invitation,
  url: t.Optional(t.String({ description: 'Where the invited person joins; only when this server sends no mail' })),
})
export type ResentInvitation = Static<typeof ResentInvitation>
export const JoinedOrg = t.Object({ organization: Org })
export const ActiveOrg = t.Object({ active_org_id: nullable(OrgId.schema) })
export type ActiveOrg = Static<typeof ActiveOrg>
export const Deleted = t.Object({ deleted: t.Literal(true) })

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

/** An org with members, keys and balance. Shown before an org is deleted (docs/operating.md 2.9). */
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
  owner: t.Optional(OwnerRef),
})
export type NewOperatorOrg = Static<typeof NewOperatorOrg>

export const OperatorOrgPatch = t.Object({
  ...OrgPatch.properties,
  type: t.Optional(oneOf(ORG_TYPES)),
  plan_note: t.Optional(PlanNote),
})
export type OperatorOrgPatch = Static<typeof OperatorOrgPatch>

export const NewMember = t.Object({ user: OwnerRef, role: oneOf(ROLES) })
export type NewMember = Static<typeof NewMember>

/** An invitation with its token, which is shown only once. */
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
  operator_role: nullable(oneOf(OPERATOR_ROLES)),
  active_org_id: nullable(OrgId.schema),
  disabled_at: nullable(Timestamp),
  created: Timestamp,
})
export type OperatorUser = Static<typeof OperatorUser>
export const OperatorUserPage = pageOf('users', OperatorUser)

/** An account with its orgs and roles, and the number of open sessions. */
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
  /** If omitted, a password is generated and shown once. */
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
    t.String({
      pattern: '^/[a-z][\\w/-]*$',
      maxLength: 200,
      description: 'Path of the page it opens; default /console',
    }),
  ),
})
export type ConsoleLinkInput = Static<typeof ConsoleLinkInput>
export const ConsoleLink = t.Object({
  url: t.String({ description: 'Signs this person in once. Shown once' }),
  expires_at: Timestamp,
})
export type ConsoleLink = Static<typeof ConsoleLink>

export const PasswordInput = t.Object({
  /** If omitted, a password is generated and shown once. */
  password: t.Optional(t.String({ minLength: 8, maxLength: 200 })),
})
export type PasswordInput = Static<typeof PasswordInput>
export const PasswordReset = t.Object({
  email: t.String(),
  password: nullable(t.String({ description: 'The generated password, if none was sent. Shown once' })),
  ended: t.Integer({ description: 'Number of sessions that were ended' }),
})
export type PasswordReset = Static<typeof PasswordReset>

export const UserPatch = t.Object({
  disabled: t.Optional(t.Boolean()),
  operator_role: t.Optional(nullable(oneOf(OPERATOR_ROLES, { description: 'null takes every role away' }))),
})
export type UserPatch = Static<typeof UserPatch>

export const OpenSession = t.Object({
  id: SessionId.schema,
  object: t.Literal('session'),
  user_id: UserId.schema,
  created: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  user_agent: nullable(t.String()),
  ip: nullable(t.String()),
})
export type OpenSession = Static<typeof OpenSession>
export const SessionList = t.Object({ sessions: t.Array(OpenSession) })

export type NewUser = {
  email: string
  name?: string | null
  /** Argon2id. Null for an account that cannot sign in with a password. */
  passwordHash?: string | null
  platformRole?: PlatformRole | null
}
