import type { Call, Caller, TenantCaller } from '../../../kernel/caller'
import { OrgId, type UserId } from '../../../kernel/ids'
import type { Reader, Tx } from '../../../kernel/store'
import { orgNotFound, permissionMissing, personOnly, tooManyOrgs } from '../errors'
import { memberRows } from '../member-rows'
import { orgRepository as rows } from '../repository'
import { mayDo, rolesWith } from '../rules'
import type { Permission, Role } from '../schema'
import type { OrgRow } from '../table'
import type { OrgDeps } from './deps'

/** What an account may use now; null when it is gone or disabled. */
export type UserAccess = { activeOrgId: OrgId | null } | null

export type OrgAndRole = { org: OrgRow; role: Role }

/**
 * An org and the caller's role in it, if the caller can reach it: people reach the orgs they are members of, an org's
 * key only its own. A foreign, an unknown and a malformed id give the same 404 (I22).
 */
export async function reach(reader: Reader, caller: TenantCaller, id: string): Promise<OrgAndRole> {
  if (!OrgId.is(id) || (caller.orgId !== null && caller.orgId !== id)) throw orgNotFound()
  const [found] = await rows.orgsOf(reader, caller.userId, id)
  if (!found) throw orgNotFound()
  return found
}

/** The same with the org locked, for transactions that change the org or its members. */
export async function reachLocked(tx: Tx, caller: TenantCaller, id: string): Promise<OrgAndRole> {
  if (OrgId.is(id)) await rows.lock(tx, id)
  return reach(tx, caller, id)
}

/** Throws 403 `forbidden` for an org's key: it is not a person, so it can neither join nor found an org. */
export function assertPerson(caller: TenantCaller, what: string): void {
  if (caller.orgId !== null) throw personOnly(what)
}

/**
 * Locks the user until the transaction ends, so that concurrent requests cannot pass the bound together. Throws 409
 * `conflict` when they own as many orgs as one person may. Operators may give them more.
 */
export async function assertMayOwn({ settings }: OrgDeps, tx: Tx, { caller }: Call<Caller>, userId: UserId) {
  if (caller.type === 'operator') return
  await rows.lockUser(tx, userId)
  const max = settings.maxOrgsPerPerson
  if ((await memberRows.ownedBy(tx, userId)) < max) return
  throw tooManyOrgs(max, userId === caller.userId ? 'You own' : 'This member owns')
}

/** Permission checks for all other rooms. */
export function createAccess() {
  return { accessOf, isOpen, standingOf: rows.standingOf, assertPermission, orgIdsWith, roleOf: rows.role }

  /** Read whenever an uncached credential is checked. One statement. */
  async function accessOf(reader: Reader, userId: UserId): Promise<UserAccess> {
    const found = await rows.accessOf(reader, userId)
    if (!found || found.disabled_at !== null) return null
    return { activeOrgId: found.suspended_at === null ? found.active_org_id : null }
  }

  /** False for an org that is suspended or deleted. */
  async function isOpen(reader: Reader, orgId: OrgId): Promise<boolean> {
    const org = await rows.org(reader, orgId)
    return org?.suspended_at === null && org.deleted_at === null
  }

  /**
   * Throws 403 `forbidden` unless the caller has the permission in the org (by default the active one). A user without
   * an org has every permission on their own resources (contract 1.2).
   */
  async function assertPermission(
    reader: Reader,
    caller: TenantCaller,
    permission: Permission,
    orgId: OrgId | null = caller.activeOrgId,
  ): Promise<void> {
    if (orgId === null) return
    const role = await rows.role(reader, orgId, caller.userId)
    if (!mayDo(role, permission)) throw permissionMissing(role, permission)
  }

  /** The orgs in which the user has a permission. */
  function orgIdsWith(reader: Reader, userId: UserId, permission: Permission): Promise<OrgId[]> {
    return rows.orgIdsWithRole(reader, userId, rolesWith(permission))
  }
}
