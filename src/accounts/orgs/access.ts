import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Call, Caller, TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { notFound } from '../../kernel/errors'
import { isIdPrefix } from '../../kernel/id-prefix'
import { OrgId, UserId } from '../../kernel/ids'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { orgSettings } from './config'
import { orgErrors } from './errors'
import { memberRows, orgRepository as rows } from './repository'
import { mayDo, normalizeEmail, rolesWith } from './rules'
import type { Permission, Role } from './schema'
import type { OrgRow, UserRow } from './table'

export type OrgDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  settings: Values<typeof orgSettings>
}

type Note = { action: `org.${string}`; fields?: string[]; metadata?: Record<string, unknown> }

/** Records a change of an org in the org's own audit chain, also for changes by operators (docs/api.md 19). */
export async function recordOrgChange(
  { audit }: Pick<OrgDeps, 'audit'>,
  tx: Tx,
  call: Call<Caller>,
  orgId: OrgId,
  { action, ...input }: Note,
): Promise<void> {
  await audit.record(tx, call, {
    action,
    entityType: 'organization',
    entityId: orgId,
    scope: `org:${orgId}`,
    input,
  })
}

export type OrgAndRole = { org: OrgRow; role: Role }

/**
 * An org the caller can reach, with the caller's role. People reach the orgs they belong to, an org's key only its own
 * org. A foreign, an unknown and a malformed id give the same 404 (docs/promises.md I22). Operators reach every org by
 * any reference that `findOrg` accepts, with an owner's rights.
 */
export async function orgForCaller(reader: Reader, caller: Caller, id: string): Promise<OrgAndRole> {
  if (caller.type === 'operator') return { org: await findOrg(reader, id), role: 'owner' }
  if (!OrgId.is(id) || (caller.orgId !== null && caller.orgId !== id)) throw orgErrors.orgNotFound()
  const [found] = await rows.orgsOf(reader, caller.userId, id)
  if (!found) throw orgErrors.orgNotFound()
  return found
}

/** Like `reach`, with the org locked, for transactions that change the org or its members. A deleted org is a 404. */
export async function lockOrgForCaller(tx: Tx, caller: Caller, id: string): Promise<OrgAndRole> {
  if (caller.type !== 'operator') {
    if (OrgId.is(id)) await rows.lock(tx, id)
    return orgForCaller(tx, caller, id)
  }
  const found = await orgForCaller(tx, caller, id)
  if (found.org.deleted_at !== null) throw notFound('organization')
  await rows.lock(tx, found.org.id)
  return found
}

/**
 * Finds an org by id, slug, exact name or the beginning of its id. A full id finds deleted orgs too. Throws 404, or 400
 * when several match.
 */
export async function findOrg(reader: Reader, ref: string): Promise<OrgRow> {
  const exact = OrgId.is(ref) ? await rows.org(reader, ref) : await rows.orgBySlug(reader, ref)
  if (exact) return exact
  const byName = await rows.orgsByName(reader, ref)
  const found = byName.length || !isIdPrefix(ref) ? byName : await rows.orgsByIdPrefix(reader, ref)
  const slugs = found.map(({ slug }) => slug)
  if (found.length > 1) throw orgErrors.ambiguousOrg(ref, slugs)
  if (!found[0]) throw notFound('organization')
  return found[0]
}

export const userByEmail = (reader: Reader, email: string): Promise<UserRow | undefined> =>
  rows.userByEmail(reader, normalizeEmail(email))

/** An account by its full id or e-mail address. */
export const exactUser = (reader: Reader, ref: string): Promise<UserRow | undefined> =>
  UserId.is(ref) ? rows.user(reader, ref) : rows.userByEmail(reader, normalizeEmail(ref))

/** The user whose id starts with `word`. Throws 400 when several match. */
export async function userByIdPrefix(reader: Reader, word: string): Promise<UserRow | undefined> {
  const found = isIdPrefix(word) ? await rows.usersByIdPrefix(reader, word) : []
  const ids = found.map(({ id }) => id)
  if (found.length > 1) throw orgErrors.ambiguousUser(word, ids)
  return found[0]
}

/** An account by id, beginning of the id, or e-mail address. Throws 404, or 400 when several ids match. */
export async function findUser(reader: Reader, ref: string): Promise<UserRow> {
  const user = (await exactUser(reader, ref)) ?? (await userByIdPrefix(reader, ref))
  if (!user) throw orgErrors.userNotFound(ref)
  return user
}

/** Throws 403 `forbidden` for an org's key. It is not a person, so it can neither join nor found an org. */
export function assertPerson(caller: TenantCaller, what: string): void {
  if (caller.orgId !== null) throw orgErrors.personOnly(what)
}

/**
 * Locks the user until the transaction ends, so that concurrent requests cannot exceed the maximum together. Throws 409
 * `conflict` when the user owns as many orgs as allowed. Operators may exceed it.
 */
export async function assertMayOwn({ settings }: OrgDeps, tx: Tx, { caller }: Call<Caller>, userId: UserId) {
  if (caller.type === 'operator') return
  await rows.lockUser(tx, userId)
  const max = settings.maxOrgsPerPerson
  if ((await memberRows.ownedBy(tx, userId)) < max) return
  throw orgErrors.tooManyOrgs(max, userId === caller.userId ? 'You own' : 'This member owns')
}

/** An account's current access. Null if it is gone or disabled. One statement, run for each uncached credential. */
export async function accessOf(reader: Reader, userId: UserId): Promise<{ activeOrgId: OrgId | null } | null> {
  const found = await rows.accessOf(reader, userId)
  if (!found || found.disabled_at !== null) return null
  return { activeOrgId: found.suspended_at === null ? found.active_org_id : null }
}

/** False for an org that is suspended or deleted. */
export async function isOpen(reader: Reader, orgId: OrgId): Promise<boolean> {
  const org = await rows.org(reader, orgId)
  return org?.suspended_at === null && org.deleted_at === null
}

/**
 * The session, acting in the organization named in `X-Svc-Org`: an id, or `personal` for none. Keys keep their own org.
 * Throws 404 for an organization that is closed or that the person does not belong to.
 */
export async function actingIn(reader: Reader, caller: TenantCaller, named: string): Promise<TenantCaller> {
  if (caller.type !== 'session') return caller
  if (named === 'personal') return { ...caller, activeOrgId: null }
  const orgId = named as OrgId
  const role = named.length <= 64 ? await rows.role(reader, orgId, caller.userId) : null
  if (!role || !(await isOpen(reader, orgId))) throw notFound('organization')
  return { ...caller, activeOrgId: orgId }
}

/**
 * Throws 403 `forbidden` unless the caller has the permission in the org (default: the active one). A user without an
 * org has every permission on their own resources (docs/api.md 1.2).
 */
export async function assertPermission(
  reader: Reader,
  caller: TenantCaller,
  permission: Permission,
  orgId: OrgId | null = caller.activeOrgId,
): Promise<void> {
  if (orgId === null) return
  const role = await rows.role(reader, orgId, caller.userId)
  if (!mayDo(role, permission)) throw orgErrors.permissionMissing(role, permission)
}

/** The orgs in which the user has a permission. */
export const orgIdsWith = (reader: Reader, userId: UserId, permission: Permission): Promise<OrgId[]> =>
  rows.orgIdsWithRole(reader, userId, rolesWith(permission))
