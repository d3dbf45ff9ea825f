import { OrgId } from '../kernel/ids'
import { oneOf, type Static, Timestamp, t } from '../kernel/schema'

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

/** A right over the whole server, held by some users besides their org roles (contract 1.2). */
export const PLATFORM_ROLES = ['reviewer', 'security_reviewer', 'admin'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

export const ORG_TYPES = ['team', 'agency', 'carrier', 'fmo', 'mga', 'broker'] as const
export type OrgType = (typeof ORG_TYPES)[number]

export const SLUG_PATTERN = '^[a-z0-9]+(-[a-z0-9]+)*$'

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

export type NewOrg = { name: string; slug?: string; type?: OrgType }
export type NewUser = {
  email: string
  name?: string | null
  /** Argon2id, or null for an account that cannot sign in with a password. */
  passwordHash?: string | null
  platformRole?: PlatformRole | null
}
