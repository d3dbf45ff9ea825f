import { and, eq, isNotNull, isNull, notExists, or } from 'drizzle-orm'
import type { Mail } from '../../cluster'
import { storeAnswer } from '../../idempotency'
import type { Jobs } from '../../jobs'
import { bind } from '../../kernel/bind'
import type { Call, Caller, OperatorCaller } from '../../kernel/caller'
import { randomHex } from '../../kernel/crypto'
import { notFound } from '../../kernel/errors'
import { OrgId, UserId } from '../../kernel/ids'
import { mapPage, type Page, type PageQuery } from '../../kernel/page'
import { isUniqueViolation, type Reader, type Tx } from '../../kernel/store'
import { slugOf } from '../../kernel/text'
import {
  accessOf,
  assertMayOwn,
  assertPermission,
  assertPerson,
  findOrg,
  isOpen,
  lockOrgForCaller,
  type OrgAndRole,
  type OrgDeps,
  orgForCaller,
  orgIdsWith,
  recordOrgChange,
  userByEmail,
} from './access'
import { orgErrors } from './errors'
import { accessChanged, accountSwitched, orgDeleted } from './events'
import { invitationMail, invitationVerbs, memberVerbs } from './members'
import { actingUserOf, findOwner } from './owner'
import { presentAll } from './present'
import { invitationRows, memberRows, orgRepository as rows } from './repository'
import { mayDo, normalizeEmail } from './rules'
import type {
  ActiveOrg,
  InvitationId,
  NewOperatorOrg,
  NewOrg,
  NewUser,
  OperatorOrg,
  OperatorOrgPatch,
  Org,
  OrgPatch,
} from './schema'
import { members, type OrgRow, orgs, type UserRow, users } from './table'

const MAX_NAMED = 20
/** Maximum length of a slug made from a name, in characters. */
const MAX_SLUG = 48

export type OrgService = ReturnType<typeof createOrgs>

/** Users, organizations, memberships and permissions. */
export const createOrgs = (
  deps: OrgDeps & { jobs: Pick<Jobs, 'register' | 'enqueue'>; mail: Mail; origin(): string },
) => {
  const mailing = invitationMail(deps)
  deps.jobs.register(mailing)
  const invitationDeps = {
    ...deps,
    canMail: deps.mail.isConfigured,
    mailInvitation: (tx: Tx, id: InvitationId) => deps.jobs.enqueue(tx, mailing, { owner: null, payload: { id } }),
  }
  return {
    ...bind(deps, {
      list,
      get,
      create,
      createOrg,
      update,
      remove,
      activate,
      deactivate,
      setOrgSuspended,
      createUser,
      setUserDisabled,
    }),
    members: bind(deps, memberVerbs),
    invitations: bind(invitationDeps, invitationVerbs),
    find: findOrg,
    listFor,
    accessOf,
    isOpen,
    assertPermission,
    orgIdsWith,
    standingOf: rows.standingOf,
    roleOf: rows.role,
    makeActive: rows.activate,
    lock: rows.lock,
    lockOwner: rows.lockOwner,
    user: rows.user,
    userByEmail,
    oldestUser: rows.oldestUser,
    /** Replaces a password hash. Returns false when the stored hash has changed since the row was read. */
    setPassword: rows.setPassword,
    changeUser: rows.changeUser,
    verify: verifyOrgs,
  }
}

type OrgView = Org | OperatorOrg

const presentOne = async (reader: Reader, caller: Caller, found: OrgAndRole): Promise<OrgView> =>
  (await presentAll(reader, caller.type, [found]))[0]!

/**
 * `GET /orgs`: the orgs the caller reaches, newest first. An org's key reaches only its own org, an operator every org
 * that is not deleted.
 */
async function list({ store }: OrgDeps, { caller }: Call<Caller>, query: PageQuery): Promise<Page<OrgView>> {
  const { read } = store
  const page =
    caller.type === 'operator'
      ? mapPage(await rows.all(read, query), (org): OrgAndRole => ({ org, role: 'owner' }))
      : await rows.pageOfOrgs(read, caller.userId, caller.orgId, query)
  return { ...page, items: await presentAll(read, caller.type, page.items) }
}

/** All orgs of a user as they see them, newest first. */
const listFor = async (reader: Reader, userId: UserId): Promise<Org[]> =>
  (await presentAll(reader, 'session', await rows.orgsOf(reader, userId))) as Org[]

/** `GET /orgs/{id}`. */
const get = async ({ store }: OrgDeps, { caller }: Call<Caller>, id: string): Promise<OrgView> =>
  presentOne(store.read, caller, await orgForCaller(store.read, caller, id))

/**
 * `POST /orgs`: the caller becomes its owner. Throws 403 for an org's key, 409 `conflict` for a taken slug or one org
 * too many. Operators name the owner, by default the account that the first run created. Throws 404 for an unknown
 * owner.
 */
async function create(
  deps: OrgDeps,
  call: Call<Caller>,
  { owner, plan_note, ...input }: NewOrg & NewOperatorOrg,
): Promise<OrgView> {
  const { caller } = call
  if (caller.type !== 'operator') assertPerson(caller, 'found another one')
  const userId = caller.type === 'operator' ? actingUserOf(await findOwner(deps.store.read, owner)) : caller.userId
  return deps.store.write(async (tx) => {
    await assertMayOwn(deps, tx, call, userId)
    const created = await createOrg(deps, tx, call, userId, input)
    const isNoted = caller.type === 'operator' && plan_note
    const org = isNoted ? await change(deps, tx, call, created, { plan_note }) : created
    return storeAnswer(tx, call, await presentOne(tx, caller, { org, role: 'owner' }))
  })
}

/**
 * Creates an org with its owner, in the caller's transaction. Throws 409 `conflict` when a requested slug is taken. A
 * slug derived from the name gets a suffix instead.
 */
async function createOrg(deps: OrgDeps, tx: Tx, call: Call<Caller>, ownerId: UserId, input: NewOrg): Promise<OrgRow> {
  const now = deps.clock.now()
  const row: OrgRow = {
    id: OrgId.create(),
    name: input.name,
    slug: input.slug ?? (slugOf(input.name, MAX_SLUG) || 'org'),
    type: input.type ?? 'team',
    plan_note: null,
    suspended_at: null,
    deleted_at: null,
    created_at: now,
    updated_at: now,
  }
  if (!(await rows.insertOrg(tx, row))) {
    if (input.slug) throw orgErrors.slugTaken(input.slug)
    row.slug = `${row.slug}-${randomHex(4)}`
    if (!(await rows.insertOrg(tx, row))) throw orgErrors.slugTaken(row.slug)
  }
  await memberRows.insert(tx, { org_id: row.id, user_id: ownerId, role: 'owner', joined_at: now })
  await recordOrgChange(deps, tx, call, row.id, { action: 'org.created' })
  return row
}

/** `PATCH /orgs/{id}`, needs `manageMembers`. Throws 409 for a taken slug. */
async function update(
  deps: OrgDeps,
  call: Call<Caller>,
  id: string,
  { name, slug, type, plan_note }: OrgPatch & OperatorOrgPatch,
): Promise<OrgView> {
  const { caller } = call
  const wanted = caller.type === 'operator' ? { name, slug, type, plan_note } : { name, slug }
  try {
    return await deps.store.write(async (tx) => {
      const { org, role } = await lockOrgForCaller(tx, caller, id)
      if (!mayDo(role, 'manageMembers')) throw orgErrors.permissionMissing(role, 'manageMembers')
      return presentOne(tx, caller, { org: await change(deps, tx, call, org, wanted), role })
    })
  } catch (error) {
    // Two concurrent requests for one slug: the unique index rejects the second.
    if (slug !== undefined && isUniqueViolation(error)) throw orgErrors.slugTaken(slug)
    throw error
  }
}

type OrgChange = { [Name in 'name' | 'slug' | 'type' | 'plan_note']?: OrgRow[Name] | undefined }

/** Changes the given fields. Throws 409 `conflict` for a taken slug. */
async function change(deps: OrgDeps, tx: Tx, call: Call<Caller>, org: OrgRow, wanted: OrgChange): Promise<OrgRow> {
  const changes = Object.entries(wanted).filter(([, value]) => value !== undefined)
  if (!changes.length) return org
  if (wanted.slug && wanted.slug !== org.slug && (await rows.orgBySlug(tx, wanted.slug)))
    throw orgErrors.slugTaken(wanted.slug)
  const change = { ...Object.fromEntries(changes), updated_at: deps.clock.now() }
  const after = (await rows.update(tx, org.id, change))!
  await recordOrgChange(deps, tx, call, org.id, { action: 'org.updated', fields: changes.map(([name]) => name) })
  return after
}

/**
 * `DELETE /orgs/{id}`, for its owners. Removes members and invitations and frees the slug; `orgDeleted` revokes the
 * keys. The ledger, the usage and the audit chain stay.
 */
function remove(deps: OrgDeps, call: Call<Caller>, id: string): Promise<OrgView> {
  const { store, events, clock } = deps
  return store.write(async (tx) => {
    const { org, role } = await lockOrgForCaller(tx, call.caller, id)
    if (role !== 'owner') throw orgErrors.ownerOnly('delete the organization', role)
    const now = clock.now()
    const members = (await rows.memberCounts(tx, [org.id])).get(org.id) ?? 0
    await events.emit(tx, orgDeleted, `org:${org.id}`, { orgId: org.id, call })
    await invitationRows.removeAll(tx, org.id)
    await memberRows.removeAll(tx, org.id)
    const deleted = (await rows.update(tx, org.id, { deleted_at: now, updated_at: now, slug: org.id }))!
    await recordOrgChange(deps, tx, call, org.id, { action: 'org.deleted', metadata: { members } })
    await events.emit(tx, accessChanged, `org:${org.id}`, { orgId: org.id })
    return presentOne(tx, call.caller, { org: deleted, role })
  })
}

/** `POST /orgs/{id}/activate`: makes it the active org of the user's sessions and personal keys. */
function activate({ store, audit, events }: OrgDeps, call: Call, id: string): Promise<ActiveOrg> {
  return store.write(async (tx) => {
    const { org } = await orgForCaller(tx, call.caller, id)
    assertPerson(call.caller, 'choose where you work')
    const { userId } = call.caller
    await rows.activate(tx, userId, org.id)
    await audit.record(tx, call, { action: 'org.activated', entityType: 'organization', entityId: org.id })
    await events.emit(tx, accessChanged, `user:${userId}`, { userId })
    return storeAnswer(tx, call, { active_org_id: org.id })
  })
}

/** `DELETE /orgs/{id}/activate`: unsets the active org if it is this one. */
function deactivate({ store, audit, events }: OrgDeps, call: Call, id: string): Promise<ActiveOrg> {
  return store.write(async (tx) => {
    const { org } = await orgForCaller(tx, call.caller, id)
    assertPerson(call.caller, 'choose where you work')
    const { userId } = call.caller
    const active = (await rows.accessOf(tx, userId))?.active_org_id ?? null
    if (active !== org.id) return { active_org_id: active }
    await rows.activate(tx, userId, null)
    await audit.record(tx, call, { action: 'org.deactivated', entityType: 'organization', entityId: org.id })
    await events.emit(tx, accessChanged, `user:${userId}`, { userId })
    return { active_org_id: null }
  })
}

/** Suspends an org, which stops all its keys, or resumes it. */
async function setOrgSuspended(
  deps: OrgDeps,
  call: Call<OperatorCaller>,
  orgId: OrgId,
  suspended: boolean,
): Promise<void> {
  const now = deps.clock.now()
  await deps.store.write(async (tx) => {
    if (!(await rows.update(tx, orgId, { suspended_at: suspended ? now : null, updated_at: now })))
      throw notFound('organization')
    await recordOrgChange(deps, tx, call, orgId, { action: suspended ? 'org.suspended' : 'org.resumed' })
    await deps.events.emit(tx, accessChanged, `org:${orgId}`, { orgId })
  })
}

/** Creates an account in the caller's transaction. Throws 409 `conflict` when the address is taken. */
async function createUser(
  { clock }: OrgDeps,
  tx: Tx,
  { email, name, passwordHash, platformRole }: NewUser,
): Promise<UserRow> {
  const row: UserRow = {
    id: UserId.create(),
    email: normalizeEmail(email),
    name: name ?? null,
    password_hash: passwordHash ?? null,
    platform_role: platformRole ?? null,
    operator_role: null,
    active_org_id: null,
    disabled_at: null,
    created_at: clock.now(),
  }
  if (!(await rows.insertUser(tx, row))) throw orgErrors.emailTaken()
  return row
}

/** Disables or enables an account. The change applies to its keys at once. Its sessions end either way. */
async function setUserDisabled(
  { store, audit, events, clock }: OrgDeps,
  call: Call<OperatorCaller>,
  userId: UserId,
  disabled: boolean,
): Promise<void> {
  await store.write(async (tx) => {
    if (!(await rows.changeUser(tx, userId, { disabled_at: disabled ? clock.now() : null }))) throw notFound('user')
    const action = disabled ? 'user.disabled' : 'user.enabled'
    await audit.record(tx, call, { action, entityType: 'user', entityId: userId, scope: `user:${userId}` })
    await events.emit(tx, accountSwitched, `user:${userId}`, { userId })
    await events.emit(tx, accessChanged, `user:${userId}`, { userId })
  })
}

/** Consistency check: an org has an owner until it is deleted, and no members afterwards (docs/api.md 18.4). */
async function verifyOrgs(reader: Reader): Promise<string[]> {
  const [ownerless, strays] = await Promise.all([ownerlessOrgs(reader), strayMembers(reader)])
  return [
    ...ownerless.map(({ id }) => `organization ${id} has no owner`),
    ...strays.map(({ org_id, user_id }) => `user ${user_id} belongs to organization ${org_id}, which does not exist`),
  ]
}

function ownerlessOrgs(reader: Reader) {
  const [org, member] = [reader.of(orgs), reader.of(members)]
  const owner = reader
    .select({ id: member.user_id })
    .from(member)
    .where(and(eq(member.org_id, org.id), eq(member.role, 'owner')))
  return reader
    .select({ id: org.id })
    .from(org)
    .where(and(isNull(org.deleted_at), notExists(owner)))
    .limit(MAX_NAMED)
}

function strayMembers(reader: Reader) {
  const [org, member, user] = [reader.of(orgs), reader.of(members), reader.of(users)]
  return reader
    .select({ org_id: member.org_id, user_id: member.user_id })
    .from(member)
    .leftJoin(org, eq(org.id, member.org_id))
    .leftJoin(user, eq(user.id, member.user_id))
    .where(or(isNull(org.id), isNotNull(org.deleted_at), isNull(user.id)))
    .limit(MAX_NAMED)
}
