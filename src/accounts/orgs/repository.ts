import { and, asc, count, desc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { hasIdPrefix } from '../../kernel/id-prefix'
import type { OrgId, UserId } from '../../kernel/ids'
import { type PageRequest, pagesBy, sliceBy } from '../../kernel/keyset'
import { type Page, toPage } from '../../kernel/page'
import { command, counted, query, type Reader, type Tx } from '../../kernel/store'
import type { InvitationId, Role } from './schema'
import {
  type InvitationRow,
  invitations,
  type MemberRow,
  members,
  type OrgRow,
  orgs,
  type UserRow,
  users,
} from './table'

const userById = query<{ id: UserId }>()((db, p) => {
  const table = db.of(users)
  return db.select().from(table).where(eq(table.id, p.id)).limit(1)
})

const userByEmail = query<{ email: string }>()((db, p) => {
  const table = db.of(users)
  return db.select().from(table).where(eq(table.email, p.email)).limit(1)
})

const roleInOrg = query<{ org_id: OrgId; user_id: UserId }>()((db, p) => {
  const table = db.of(members)
  return db
    .select({ role: table.role })
    .from(table)
    .where(and(eq(table.org_id, p.org_id), eq(table.user_id, p.user_id)))
    .limit(1)
})

/** The user, and the active org if the user is still a member of it. */
const userAccess = query<{ id: UserId }>()((db, p) => {
  const [user, member, org] = [db.of(users), db.of(members), db.of(orgs)]
  return db
    .select({ disabled_at: user.disabled_at, active_org_id: member.org_id, suspended_at: org.suspended_at })
    .from(user)
    .leftJoin(member, and(eq(member.org_id, user.active_org_id), eq(member.user_id, user.id)))
    .leftJoin(org, eq(org.id, member.org_id))
    .where(eq(user.id, p.id))
    .limit(1)
})

const orgById = query<{ id: OrgId }>()((db, p) => {
  const table = db.of(orgs)
  return db.select().from(table).where(eq(table.id, p.id)).limit(1)
})

const orgBySlug = query<{ slug: string }>()((db, p) => {
  const table = db.of(orgs)
  return db.select().from(table).where(eq(table.slug, p.slug)).limit(1)
})

/** Updates that change nothing. They take the row lock. */
const lockUser = command<{ id: UserId }>()((tx, p) => {
  const table = tx.of(users)
  return tx
    .update(table)
    .set({ name: sql`${table.name}` })
    .where(eq(table.id, p.id))
})

const lockOrg = command<{ id: OrgId }>()((tx, p) => {
  const table = tx.of(orgs)
  return tx
    .update(table)
    .set({ name: sql`${table.name}` })
    .where(eq(table.id, p.id))
})

const setActiveOrg = command<{ id: UserId; org_id: OrgId | null }>()((tx, p) => {
  const table = tx.of(users)
  return tx
    .update(table)
    .set({ active_org_id: sql`${p.org_id}` })
    .where(eq(table.id, p.id))
})

/** Succeeds only while the stored hash equals `expectedHash`, so of two concurrent changes one fails. */
const setPassword = counted<{ id: UserId; hash: string; expectedHash: string }>()((tx, p) => {
  const table = tx.of(users)
  return tx
    .update(table)
    .set({ password_hash: sql`${p.hash}` })
    .where(and(eq(table.id, p.id), sql`coalesce(${table.password_hash}, '') = ${p.expectedHash}`))
})

/** Maximum number of matches that an error message lists. */
const CANDIDATES = 10

type Membership = { org: OrgRow; role: Role }

const newestOrgs = pagesBy(orgs, 'created_at')
const newestUsers = pagesBy(users, 'created_at')

/** A user's orgs with the user's role, newest first by an index of members. `only` restricts the list to one org. */
function membershipsOf(db: Reader, userId: UserId, only: OrgId | null, after?: SQL) {
  const [org, member] = [db.of(orgs), db.of(members)]
  return db
    .select({ org, role: member.role })
    .from(member)
    .innerJoin(org, eq(org.id, member.org_id))
    .where(and(eq(member.user_id, userId), only ? eq(member.org_id, only) : undefined, after))
    .orderBy(desc(member.org_created_at), desc(member.org_id))
}

/** Rows of users, orgs and memberships. */
export const orgRepository = {
  setPassword: async (tx: Tx, { id, password_hash }: UserRow, hash: string): Promise<boolean> =>
    (await setPassword(tx, { id, hash, expectedHash: password_hash ?? '' })) > 0,

  user: async (db: Reader, id: UserId): Promise<UserRow | undefined> => (await userById(db, { id }))[0],

  userByEmail: async (db: Reader, email: string): Promise<UserRow | undefined> => (await userByEmail(db, { email }))[0],

  accessOf: async (db: Reader, id: UserId) => (await userAccess(db, { id }))[0],

  /** The users who are not disabled, each with those of `orgIds` they belong to that are active. */
  async standingOf(db: Reader, userIds: UserId[], orgIds: OrgId[]): Promise<Map<UserId, Set<OrgId>>> {
    const [user, member, org] = [db.of(users), db.of(members), db.of(orgs)]
    const found = await db
      .select({ userId: user.id, orgId: org.id })
      .from(user)
      .leftJoin(member, and(eq(member.user_id, user.id), inArray(member.org_id, orgIds)))
      .leftJoin(org, and(eq(org.id, member.org_id), isNull(org.suspended_at), isNull(org.deleted_at)))
      .where(and(inArray(user.id, userIds), isNull(user.disabled_at)))
    const state = new Map<UserId, Set<OrgId>>()
    for (const { userId, orgId } of found) {
      const open = state.get(userId) ?? new Set()
      state.set(userId, orgId === null ? open : open.add(orgId))
    }
    return state
  },

  org: async (db: Reader, id: OrgId): Promise<OrgRow | undefined> => (await orgById(db, { id }))[0],

  orgBySlug: async (db: Reader, slug: string): Promise<OrgRow | undefined> => (await orgBySlug(db, { slug }))[0],

  orgsByName(db: Reader, name: string): Promise<OrgRow[]> {
    const table = db.of(orgs)
    const named = and(eq(table.name, name), isNull(table.deleted_at))
    return db.select().from(table).where(named).limit(10) as unknown as Promise<OrgRow[]>
  },

  role: async (db: Reader, org_id: OrgId, user_id: UserId): Promise<Role | null> =>
    (await roleInOrg(db, { org_id, user_id }))[0]?.role ?? null,

  /** The oldest account, which the first run created. */
  async oldestUser(db: Reader): Promise<UserRow | undefined> {
    const table = db.of(users)
    return (await db.select().from(table).orderBy(asc(table.created_at), asc(table.id)).limit(1))[0]
  },

  async hasSeveralUsers(db: Reader): Promise<boolean> {
    const table = db.of(users)
    return (await db.select({ id: table.id }).from(table).limit(2)).length === 2
  },

  /** The owner of the org. With several owners, the one who joined first. */
  async ownerOf(db: Reader, id: OrgId): Promise<UserId | undefined> {
    const table = db.of(members)
    const owners = db.select({ user_id: table.user_id }).from(table)
    const mine = owners.where(and(eq(table.org_id, id), eq(table.role, 'owner')))
    return (await mine.orderBy(asc(table.joined_at), asc(table.user_id)).limit(1))[0]?.user_id
  },

  /** Returns false when the address is taken. */
  async insertUser(tx: Tx, row: UserRow): Promise<boolean> {
    const table = tx.of(users)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  /** Returns false when the slug is taken. */
  async insertOrg(tx: Tx, row: OrgRow): Promise<boolean> {
    const table = tx.of(orgs)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  /** Locks the org until the transaction ends, so that no one else changes its members or its slug. */
  lock: async (tx: Tx, id: OrgId): Promise<void> => {
    await lockOrg(tx, { id })
  },

  /** Locks the user, so that no concurrent request creates objects whose number per user is limited. */
  lockUser: async (tx: Tx, id: UserId): Promise<void> => {
    await lockUser(tx, { id })
  },

  lockOwner: async (tx: Tx, { userId, orgId }: { userId: UserId; orgId: OrgId | null }): Promise<void> => {
    await (orgId === null ? lockUser(tx, { id: userId }) : lockOrg(tx, { id: orgId }))
  },

  async update(tx: Tx, id: OrgId, change: Partial<OrgRow>): Promise<OrgRow> {
    const table = tx.of(orgs)
    return (await tx.update(table).set(change).where(eq(table.id, id)).returning())[0]!
  },

  async activate(tx: Tx, id: UserId, org_id: OrgId | null): Promise<void> {
    await setActiveOrg(tx, { id, org_id })
  },

  async setUserDisabled(tx: Tx, id: UserId, disabled_at: number | null): Promise<boolean> {
    const table = tx.of(users)
    const changed = tx.update(table).set({ disabled_at }).where(eq(table.id, id))
    return (await changed.returning({ id: table.id })).length === 1
  },

  async changeUser(tx: Tx, id: UserId, change: Partial<Pick<UserRow, 'name' | 'operator_role' | 'platform_role'>>) {
    const table = tx.of(users)
    await tx.update(table).set(change).where(eq(table.id, id))
  },

  async setOrgSuspended(tx: Tx, id: OrgId, suspended_at: number | null, now: number): Promise<boolean> {
    const table = tx.of(orgs)
    const changed = tx.update(table).set({ suspended_at, updated_at: now }).where(eq(table.id, id))
    return (await changed.returning({ id: table.id })).length === 1
  },

  orgsOf: async (db: Reader, userId: UserId, only: OrgId | null = null): Promise<Membership[]> =>
    membershipsOf(db, userId, only),

  async pageOfOrgs(db: Reader, userId: UserId, only: OrgId | null, wanted: PageRequest): Promise<Page<Membership>> {
    const { org_created_at, org_id } = db.of(members)
    const { list, after, limit } = sliceBy(org_created_at, org_id, wanted)
    const found = await membershipsOf(db, userId, only, after).limit(limit)
    return toPage(list, found, wanted.limit, ({ org }) => ({ at: org.created_at, id: org.id }))
  },

  /** For operators: every org that was not deleted, newest first. */
  all: (db: Reader, wanted: PageRequest): Promise<Page<OrgRow>> =>
    newestOrgs(db, wanted, isNull(db.of(orgs).deleted_at)),

  /** For operators: every account, newest first. */
  allUsers: (db: Reader, wanted: PageRequest): Promise<Page<UserRow>> => newestUsers(db, wanted),

  /** For operators: orgs whose id starts with `word`, including deleted ones. */
  async orgsByIdPrefix(db: Reader, word: string): Promise<OrgRow[]> {
    const table = db.of(orgs)
    return db.select().from(table).where(hasIdPrefix(table.id, word)).limit(CANDIDATES)
  },

  async usersByIdPrefix(db: Reader, word: string): Promise<UserRow[]> {
    const table = db.of(users)
    return db.select().from(table).where(hasIdPrefix(table.id, word)).limit(CANDIDATES)
  },

  async memberCounts(db: Reader, ids: OrgId[]): Promise<Map<OrgId, number>> {
    if (!ids.length) return new Map()
    const table = db.of(members)
    const counted = db.select({ id: table.org_id, total: count() }).from(table).where(inArray(table.org_id, ids))
    return new Map((await counted.groupBy(table.org_id)).map(({ id, total }) => [id, Number(total)]))
  },

  /** Ids of the orgs in which the user has one of these roles. */
  async orgIdsWithRole(db: Reader, userId: UserId, roles: Role[]): Promise<OrgId[]> {
    const table = db.of(members)
    const found = db.select({ id: table.org_id }).from(table)
    return (await found.where(and(eq(table.user_id, userId), inArray(table.role, roles)))).map(({ id }) => id)
  },
}

/** A membership with the user's e-mail address and name. */
export type MemberWithAccount = MemberRow & { email: string; name: string | null }

/** Memberships of orgs. */
export const memberRows = {
  /** Oldest first, so that the founder of the org is at the top. */
  async list(db: Reader, orgId: OrgId): Promise<MemberWithAccount[]> {
    const [member, user] = [db.of(members), db.of(users)]
    return withAccounts(db).where(eq(member.org_id, orgId)).orderBy(asc(member.joined_at), asc(user.id))
  },

  async find(db: Reader, orgId: OrgId, userId: UserId): Promise<MemberWithAccount | undefined> {
    const member = db.of(members)
    return (await withAccounts(db).where(and(eq(member.org_id, orgId), eq(member.user_id, userId))))[0]
  },

  async owners(db: Reader, orgId: OrgId): Promise<number> {
    const table = db.of(members)
    return db.$count(table, and(eq(table.org_id, orgId), eq(table.role, 'owner')))
  },

  /** Number of orgs that the user owns. */
  async ownedBy(db: Reader, userId: UserId): Promise<number> {
    const table = db.of(members)
    return db.$count(table, and(eq(table.user_id, userId), eq(table.role, 'owner')))
  },

  /** Returns false when the user is already a member. */
  async insert(tx: Tx, row: MemberRow): Promise<boolean> {
    const [table, org] = [tx.of(members), tx.of(orgs)]
    const org_created_at = sql<number>`(select ${org.created_at} from ${org} where ${org.id} = ${row.org_id})`
    const added = tx.insert(table).values({ ...row, org_created_at })
    return (await added.onConflictDoNothing().returning({ id: table.user_id })).length === 1
  },

  async setRole(tx: Tx, { org_id, user_id }: MemberRow, role: Role): Promise<void> {
    const table = tx.of(members)
    await tx
      .update(table)
      .set({ role })
      .where(and(eq(table.org_id, org_id), eq(table.user_id, user_id)))
  },

  /** Removes the member. Unsets the org if it was the user's active one. */
  async remove(tx: Tx, { org_id, user_id }: MemberRow): Promise<void> {
    const [member, user] = [tx.of(members), tx.of(users)]
    await tx.delete(member).where(and(eq(member.org_id, org_id), eq(member.user_id, user_id)))
    await tx
      .update(user)
      .set({ active_org_id: null })
      .where(and(eq(user.id, user_id), eq(user.active_org_id, org_id)))
  },

  async removeAll(tx: Tx, orgId: OrgId): Promise<void> {
    const [member, user] = [tx.of(members), tx.of(users)]
    await tx.delete(member).where(eq(member.org_id, orgId))
    await tx.update(user).set({ active_org_id: null }).where(eq(user.active_org_id, orgId))
  },
}

const withAccounts = (db: Reader) => {
  const [member, user] = [db.of(members), db.of(users)]
  return db
    .select({
      org_id: member.org_id,
      user_id: member.user_id,
      role: member.role,
      joined_at: member.joined_at,
      email: user.email,
      name: user.name,
    })
    .from(member)
    .innerJoin(user, eq(user.id, member.user_id))
}

const MAX_INVITATIONS = 500

/** Invitations. Invited people reach them only through the hash of the token. */
export const invitationRows = {
  async byToken(db: Reader, hash: string): Promise<InvitationRow | undefined> {
    const table = db.of(invitations)
    return (await db.select().from(table).where(eq(table.token_hash, hash)).limit(1))[0]
  },

  /** Invitations that are not accepted yet, newest first. */
  open(db: Reader, orgId: OrgId): Promise<InvitationRow[]> {
    const table = db.of(invitations)
    const isOpen = and(eq(table.org_id, orgId), isNull(table.accepted_at))
    return db.select().from(table).where(isOpen).orderBy(desc(table.created_at), desc(table.id)).limit(MAX_INVITATIONS)
  },

  /**
   * Changes an unaccepted invitation, or removes it (`set` is null). Undefined when the org has no such invitation.
   * Without an org, applies to any org's invitation.
   */
  async change(
    tx: Tx,
    orgId: OrgId | null,
    id: InvitationId,
    set: Partial<Pick<InvitationRow, 'token_hash' | 'expires_at'>> | null,
  ): Promise<InvitationRow | undefined> {
    const table = tx.of(invitations)
    const open = and(orgId ? eq(table.org_id, orgId) : undefined, eq(table.id, id), isNull(table.accepted_at))
    const changed = set ? tx.update(table).set(set).where(open) : tx.delete(table).where(open)
    return (await changed.returning())[0]
  },

  /** Stores the invitation, replacing an earlier one for the same address. The earlier token stops working. */
  async replace(tx: Tx, row: InvitationRow): Promise<void> {
    const table = tx.of(invitations)
    await tx.delete(table).where(and(eq(table.org_id, row.org_id), eq(table.email, row.email)))
    await tx.insert(table).values(row)
  },

  /** Returns false when the invitation was already accepted. */
  async accept(tx: Tx, id: InvitationId, accepted_at: number): Promise<boolean> {
    const table = tx.of(invitations)
    const open = and(eq(table.id, id), isNull(table.accepted_at))
    return (await tx.update(table).set({ accepted_at }).where(open).returning({ id: table.id })).length === 1
  },

  async removeAll(tx: Tx, orgId: OrgId): Promise<void> {
    const table = tx.of(invitations)
    await tx.delete(table).where(eq(table.org_id, orgId))
  },
}
