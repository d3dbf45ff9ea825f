import { form } from '../../kernel/form'
import { defineId, type Id, OrgId, UserId } from '../../kernel/ids'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../../kernel/schema'

/** An org by id, slug or name, or a user by id or e-mail address, as operators name them (dx 2.1). */
export const OwnerRef = t.String({ minLength: 1, maxLength: 320 })
export const OwnerQuery = t.Object({ owner: t.Optional(OwnerRef) })

export const InvitationId = defineId('invitation')
export type InvitationId = Id<'invitation'>

export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** What a role may do in its org (contract 1.2). */
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

/** A server-wide role that some users have besides their org roles (contract 1.2). */
export const PLATFORM_ROLES = ['reviewer', 'security_reviewer', 'admin'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

export const ORG_TYPES = ['team', 'agency', 'carrier', 'fmo', 'mga', 'broker'] as const
export type OrgType = (typeof ORG_TYPES)[number]

const SLUG_PATTERN = form(
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  'lower-case letters and digits with single hyphens in between, such as my-team',
)

/** An organization as one of its members sees it (contract 18.4). */
export const Org = t.Object(
  {
    id: OrgId.schema,
    object: t.Literal('organization'),
    name: t.String(),
    slug: t.String(),
    type: oneOf(ORG_TYPES),
    role: oneOf(ROLES, { description: 'Your role in it' }),
    member_count: t.Integer(),
    created: Timestamp,
    updated: Timestamp,
  },
  { $id: 'Organization' },
)
export type Org = Static<typeof Org>

export const OrgPage = pageOf('organizations', Org)

const Name = t.String({ minLength: 1, maxLength: 128, pattern: '\\S' })
const Slug = t.String({ minLength: 1, maxLength: 64, pattern: SLUG_PATTERN })
const Email = t.String({ format: 'email', maxLength: 254 })

/** Body of `POST /orgs`. */
export const NewOrg = t.Object(
  {
    name: Name,
    slug: t.Optional(Slug),
    type: t.Optional(oneOf(ORG_TYPES)),
  },
  { $id: 'NewOrganization' },
)
export type NewOrg = Static<typeof NewOrg>

/** Body of `PATCH /orgs/{id}`; missing members stay unchanged. */
export const OrgPatch = t.Object({ name: t.Optional(Name), slug: t.Optional(Slug) }, { $id: 'OrganizationPatch' })
export type OrgPatch = Static<typeof OrgPatch>

export const Member = t.Object(
  {
    user_id: UserId.schema,
    name: nullable(t.String()),
    email: t.String(),
    role: oneOf(ROLES),
    joined_at: Timestamp,
  },
  { $id: 'Member' },
)
export type Member = Static<typeof Member>

export const MemberList = t.Object({ members: t.Array(Member) })
export const MemberReply = t.Object({ member: Member })
export const MemberPatch = t.Object({ role: oneOf(ROLES) }, { $id: 'MemberPatch' })
export type MemberPatch = Static<typeof MemberPatch>

/** Body of `POST /orgs/{id}/invitations`. */
export const NewInvitation = t.Object({ email: Email, role: oneOf(ROLES) }, { $id: 'NewInvitation' })
export type NewInvitation = Static<typeof NewInvitation>

export const Invitation = t.Object(
  {
    id: InvitationId.schema,
    email: t.String(),
    role: oneOf(ROLES),
    status: oneOf(['pending', 'accepted', 'expired'] as const),
    expires_at: Timestamp,
  },
  { $id: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

export const InvitationReply = t.Object({
  invitation: Invitation,
  token: t.String({ description: 'svc_iv_…, for POST /invitations/{token}/accept. Shown once' }),
})
export const JoinedOrg = t.Object({ organization: Org })
export const ActiveOrg = t.Object({ active_org_id: nullable(OrgId.schema) })
export type ActiveOrg = Static<typeof ActiveOrg>
export const Deleted = t.Object({ deleted: t.Literal(true) })

export type NewUser = {
  email: string
  name?: string | null
  /** Argon2id, or null for an account that cannot sign in with a password. */
  passwordHash?: string | null
  platformRole?: PlatformRole | null
}
