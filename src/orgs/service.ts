import type { AuditLog } from '../audit'
import type { EventBus } from '../events'
import type { Call, Caller, OperatorCaller, TenantCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { notFound } from '../kernel/errors'
import { OrgId, UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'
import { ambiguousOrg, emailTaken, permissionMissing, slugTaken } from './errors'
import { accessChanged } from './events'
import { orgRepository as rows } from './repository'
import { mayDo, normalizeEmail, rolesWith, slugify } from './rules'
import type { NewOrg, NewUser, Org, Permission, Role } from './schema'
import type { OrgRow, UserRow } from './table'

export type OrgService = ReturnType<typeof createOrgs>

type Deps = { store: Store; audit: AuditLog; events: EventBus; clock: Clock }

/** What an identity is worth right now: null when the account is gone or disabled. */
export type Standing = { activeOrgId: OrgId | null } | null

/** People, organizations, who belongs where and who may do what. */
export function createOrgs({ store, audit, events, clock }: Deps) {
  return {
    createUser,
    createOrg,
    user: rows.user,
    userByEmail: (reader: Reader, email: string) => rows.userByEmail(reader, normalizeEmail(email)),
    oldestUser: rows.oldestUser,
    ownerOf: rows.ownerOf,
    makeActive: rows.activate,
    standing,
    isOpen,
    find,
    listFor,
    activate,
    roleOf: rows.role,
    assertPermission,
    orgIdsWith,
    setUserDisabled,
    setOrgSuspended,
  }

  /** Adds an account in the caller's unit of work. Throws 409 `conflict` when the address has one. */
  async function createUser(tx: Tx, { email, name, passwordHash, platformRole }: NewUser): Promise<UserRow> {
    const row: UserRow = {
      id: UserId.create(),
      email: normalizeEmail(email),
      name: name ?? null,
      password_hash: passwordHash ?? null,
      platform_role: platformRole ?? null,
      active_org_id: null,
      disabled_at: null,
      created_at: clock.now(),
    }
    if (!(await rows.insertUser(tx, row))) throw emailTaken()
    return row
  }

  /**
   * Makes an org with its owner, in the caller's unit of work. A slug that was asked for and is taken is
   * 409 `conflict`; one made from the name gets a tail instead.
   */
  async function createOrg(tx: Tx, call: Call<Caller>, ownerId: UserId, input: NewOrg): Promise<OrgRow> {
    const now = clock.now()
    const row: OrgRow = {
      id: OrgId.create(),
      name: input.name,
      slug: input.slug ?? slugify(input.name),
      type: input.type ?? 'team',
      suspended_at: null,
      created_at: now,
      updated_at: now,
    }
    if (!(await rows.insertOrg(tx, row))) {
      if (input.slug) throw slugTaken(input.slug)
      row.slug = `${row.slug}-${randomHex(4)}`
      if (!(await rows.insertOrg(tx, row))) throw slugTaken(row.slug)
    }
    await rows.insertMember(tx, { org_id: row.id, user_id: ownerId, role: 'owner', joined_at: now })
    await audit.record(tx, call, {
      action: 'org.created',
      entityType: 'organization',
      entityId: row.id,
      scope: `org:${row.id}`,
    })
    return row
  }

  /** Read at every check of a credential that is not remembered; one statement. */
  async function standing(reader: Reader, userId: UserId): Promise<Standing> {
    const found = await rows.standing(reader, userId)
    if (!found || found.disabled_at !== null) return null
    return { activeOrgId: found.suspended_at === null ? found.active_org_id : null }
  }

  /** False for an org that is suspended or gone. */
  async function isOpen(reader: Reader, orgId: OrgId): Promise<boolean> {
    return (await rows.org(reader, orgId))?.suspended_at === null
  }

  /** For operators: an org by id, slug or exact name. Throws 404, or 409 when several have the name. */
  async function find(reader: Reader, ref: string): Promise<OrgRow> {
    const exact = OrgId.is(ref) ? await rows.org(reader, ref) : await rows.orgBySlug(reader, ref)
    if (exact) return exact
    const named = await rows.orgsByName(reader, ref)
    if (named.length > 1)
      throw ambiguousOrg(
        ref,
        named.map(({ slug }) => slug),
      )
    if (!named[0]) throw notFound('organization')
    return named[0]
  }

  /** Every org the user belongs to, as the user sees it, newest first. */
  async function listFor(reader: Reader, userId: UserId): Promise<Org[]> {
    const mine = await rows.orgsOf(reader, userId)
    const counts = await rows.memberCounts(
      reader,
      mine.map(({ org }) => org.id),
    )
    return mine.map(({ org, role }) => present(org, role, counts.get(org.id) ?? 0))
  }

  /** Makes an org the user's active one, or none with null. Throws 404 for an org the user is not in. */
  async function activate(call: Call, orgId: string | null): Promise<{ active_org_id: OrgId | null }> {
    const { userId } = call.caller
    return store.write(async (tx) => {
      const chosen = orgId === null ? null : await joined(tx, userId, orgId)
      await rows.activate(tx, userId, chosen)
      await audit.record(tx, call, { action: 'org.activated', entityType: 'organization', entityId: chosen })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
      return { active_org_id: chosen }
    })
  }

  /**
   * Throws 403 `forbidden` unless the caller may do that in the org, the active one unless another is
   * named. A user without an org is alone, and may do everything (contract 1.2).
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

  /** The orgs in which the user holds a permission. */
  function orgIdsWith(reader: Reader, userId: UserId, permission: Permission): Promise<OrgId[]> {
    return rows.orgIdsWithRole(reader, userId, rolesWith(permission))
  }

  /** For operators: shuts an account out, or lets it back in; its keys and sessions follow at once. */
  async function setUserDisabled(call: Call<OperatorCaller>, userId: UserId, disabled: boolean): Promise<void> {
    await store.write(async (tx) => {
      if (!(await rows.setUserDisabled(tx, userId, disabled ? clock.now() : null))) throw notFound('user')
      const action = disabled ? 'user.disabled' : 'user.enabled'
      await audit.record(tx, call, { action, entityType: 'user', entityId: userId, scope: `user:${userId}` })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
    })
  }

  /** For operators: stops every key of an org, or lets them work again. */
  async function setOrgSuspended(call: Call<OperatorCaller>, orgId: OrgId, suspended: boolean): Promise<void> {
    const now = clock.now()
    await store.write(async (tx) => {
      if (!(await rows.setOrgSuspended(tx, orgId, suspended ? now : null, now))) throw notFound('organization')
      const action = suspended ? 'org.suspended' : 'org.resumed'
      await audit.record(tx, call, { action, entityType: 'organization', entityId: orgId, scope: `org:${orgId}` })
      await events.emit(tx, accessChanged, `org:${orgId}`, { orgId })
    })
  }
}

async function joined(reader: Reader, userId: UserId, orgId: string): Promise<OrgId> {
  const role: Role | null = OrgId.is(orgId) ? await rows.role(reader, orgId, userId) : null
  if (role === null) throw notFound('organization')
  return orgId as OrgId
}

const present = (org: OrgRow, role: Role, memberCount: number): Org => ({
  id: org.id,
  object: 'organization',
  name: org.name,
  slug: org.slug,
  type: org.type,
  role,
  member_count: memberCount,
  created: iso(org.created_at),
  updated: iso(org.updated_at),
})
