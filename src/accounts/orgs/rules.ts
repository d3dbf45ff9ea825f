import type { OperatorRole, OwnerScope, TenantCaller } from '../../kernel/caller'
import { randomBase62, sha256Hex } from '../../kernel/crypto'
import { withAsciiHost } from '../../kernel/text'
import { DEV_OWNER } from '../../kernel/user-folder'
import { orgErrors } from './errors'
import { type Invitation, PERMISSIONS, type Permission, type Role } from './schema'
import type { InvitationRow, UserRow } from './table'

const EVERYTHING: ReadonlySet<Permission> = new Set(PERMISSIONS)

/** The permission matrix of docs/api.md 1.2. */
const GRANTS: Record<Role, ReadonlySet<Permission>> = {
  owner: EVERYTHING,
  admin: EVERYTHING,
  member: new Set(['manageSkills', 'viewUsage']),
  viewer: new Set(['viewUsage']),
}

/** True when a role has a permission. Without a role, false. */
export const mayDo = (role: Role | null, permission: Permission): boolean =>
  role !== null && GRANTS[role].has(permission)

/** The roles that have a permission, for queries. */
export const rolesWith = (permission: Permission): Role[] =>
  (Object.keys(GRANTS) as Role[]).filter((role) => GRANTS[role].has(permission))

/**
 * The owner of the team-scoped resources (webhooks, hooks, events) of a caller: the active org. A user without an org
 * counts as an org of one member (docs/api.md 1.2).
 */
export const teamOf = ({ activeOrgId, userId }: TenantCaller): OwnerScope =>
  activeOrgId ? `org:${activeOrgId}` : `user:${userId}`

/** Addresses that only differ in case, surrounding whitespace or host script are the same account. Linear time. */
export const normalizeEmail = (email: string): string => withAsciiHost(email.trim().normalize('NFC').toLowerCase())

/**
 * Only members with `manageMembers` may change a role or remove a member. If an owner's role is involved, only owners
 * may, so that no one can make themselves an owner (docs/attacks.md E5). Throws 403 `forbidden`.
 */
export function assertMayAssign(callerRole: Role, ...roles: (Role | null)[]): void {
  if (!mayDo(callerRole, 'manageMembers')) throw orgErrors.permissionMissing(callerRole, 'manageMembers')
  if (callerRole !== 'owner' && roles.includes('owner'))
    throw orgErrors.ownerOnly('make, change or remove an owner', callerRole)
}

/** Lifetime of an invitation, as on GitHub. */
export const INVITATION_MS = 7 * 24 * 60 * 60_000

const INVITATION_LABEL = 'svc_iv_'
const INVITATION_TOKEN = /^svc_iv_[0-9A-Za-z]{43}$/

/** Creates a single-use token and the hash to store: 43 base62 characters are 256 random bits. */
export function mintInvitationToken(): { token: string; hash: string } {
  const token = INVITATION_LABEL + randomBase62(43)
  return { token, hash: sha256Hex(token) }
}

/** The hash to look a token up by. Null when the token cannot be from this server. */
export const recogniseInvitationToken = (token: string): string | null =>
  INVITATION_TOKEN.test(token) ? sha256Hex(token) : null

export const invitationStatus = (
  { accepted_at, expires_at }: Pick<InvitationRow, 'accepted_at' | 'expires_at'>,
  now: number,
): Invitation['status'] => {
  if (accepted_at !== null) return 'accepted'
  return expires_at > now ? 'pending' : 'expired'
}

const OPERATOR_ROLE_OF = { admin: 'admin', reviewer: 'reviewer', security_reviewer: 'reviewer' } as const

/** The operator role of an account in the console. In dev mode, the owner created at first start is an admin. */
export function operatorRoleOf(
  { email, operator_role, platform_role }: Pick<UserRow, 'email' | 'operator_role' | 'platform_role'>,
  production: boolean,
): OperatorRole | null {
  if (operator_role ?? platform_role) return operator_role ?? OPERATOR_ROLE_OF[platform_role!]
  return !production && email === DEV_OWNER ? 'admin' : null
}
