import type { OwnerScope, TenantCaller } from '../kernel/caller'
import { PERMISSIONS, type Permission, type Role } from './schema'

const EVERYTHING: ReadonlySet<Permission> = new Set(PERMISSIONS)

/** The matrix of contract 1.2. */
const GRANTS: Record<Role, ReadonlySet<Permission>> = {
  owner: EVERYTHING,
  admin: EVERYTHING,
  member: new Set(['manageSkills', 'viewUsage']),
  viewer: new Set(['viewUsage']),
}

/** Whether someone with this role may do that; someone without a role may do nothing. */
export const mayDo = (role: Role | null, permission: Permission): boolean =>
  role !== null && GRANTS[role].has(permission)

/** The roles that hold a permission, for queries. */
export const rolesWith = (permission: Permission): Role[] =>
  (Object.keys(GRANTS) as Role[]).filter((role) => GRANTS[role].has(permission))

/**
 * Whose team-scoped things (webhooks, hooks, events) a caller works on: the active org's, or, for a user
 * without one, the user's own, as if they were an org of one member (contract 1.2).
 */
export const teamOf = ({ activeOrgId, userId }: TenantCaller): OwnerScope =>
  activeOrgId ? `org:${activeOrgId}` : `user:${userId}`

const MAX_SLUG = 48

/** A slug out of a name: `Ünited Äpples, Inc.` becomes `united-apples-inc`; `org` when nothing is left. */
export function slugify(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '')
  return slug || 'org'
}

/** One address, one account: surrounding blanks and letter case do not make another. */
export const normalizeEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()
