import { and, asc, count, desc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { hasIdPrefix } from '../../kernel/id-prefix'
import type { OrgId, UserId } from '../../kernel/ids'
import { type PageRequest, pagesBy, sliceBy } from '../../kernel/keyset'
import { type Page, toPage } from '../../kernel/page'
import { rowsOf } from '../../kernel/rows'
import { counted, query, type Reader, type Tx } from '../../kernel/store'
import { sessions } from '../auth/table'
import { keyRepository } from '../keys/repository'
import { apiKeys } from '../keys/table'
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

const userRows = rowsOf(users)
const orgRows = rowsOf(orgs)
const membersOfOrgs = rowsOf(members)
const invited = rowsOf(invitations)

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

  user: (db: Reader, id: UserId) => userRows.first(db, { id }),

  userByEmail: (db: Reader, email: string) => userRows.first(db, { email }),

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

  org: (db: Reader, id: OrgId) => orgRows.first(db, { id }),

  orgBySlug: (db: Reader, slug: string) => orgRows.first(db, { slug }),

  orgsByName: (db: Reader, name: string) => orgRows.all(db, { name, deleted_at: null }, { limit: CANDIDATES }),

  role: async (db: Reader, org_id: OrgId, user_id: UserId): Promise<Role | null> =>
    (await membersOfOrgs.first(db, { org_id, user_id }))?.role ?? null,

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
  ownerOf: async (db: Reader, org_id: OrgId): Promise<UserId | undefined> => {
    const order = (t: typeof members.sqlite) => [asc(t.joined_at), asc(t.user_id)]
    return (await membersOfOrgs.all(db, { org_id, role: 'owner' }, { order, limit: 1 }))[0]?.user_id
  },

  /** Returns false when the address is taken. */
  insertUser: userRows.add,

  /** Returns false when the slug is taken. */
  insertOrg: orgRows.add,

  /** Locks the org until the transaction ends, so that no one else changes its members or its slug. */
  lock: (tx: Tx, id: OrgId) => orgRows.lock(tx, { id }),

  /** Locks the user, so that no concurrent request creates objects whose number per user is limited. */
  lockUser: (tx: Tx, id: UserId) => userRows.lock(tx, { id }),

  lockOwner: async (tx: Tx, { userId, orgId }: { userId: UserId; orgId: OrgId | null }): Promise<void> => {
    await (orgId === null ? userRows.lock(tx, { id: userId }) : orgRows.lock(tx, { id: orgId }))
  },

  /** Undefined when the org does not exist. */
  update: (tx: Tx, id: OrgId, change: Partial<OrgRow>) => orgRows.change(tx, { id }, change),

  activate: (tx: Tx, id: UserId, active_org_id: OrgId | null) => userRows.update(tx, { id }, { active_org_id }),

  /** Returns how many were changed: none when the account does not exist. */
  changeUser: (
    tx: Tx,
    id: UserId,
    change: Partial<Pick<UserRow, 'name' | 'operator_role' | 'platform_role' | 'disabled_at'>>,
  ) => userRows.update(tx, { id }, change),

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

/** A membership with the user's account, newest use of a session, and number of active keys of the org. */
export type MemberWithAccount = MemberRow &
  Pick<UserRow, 'email' | 'name'> & { last_seen_at: number | null; active_keys: number }

/** Memberships of orgs. */
export const memberRows = {
  /** Oldest first, so that the founder of the org is at the top. */
  async list(db: Reader, orgId: OrgId, now: number): Promise<MemberWithAccount[]> {
    const [member, user] = [db.of(members), db.of(users)]
    return withAccounts(db, orgId, now).where(eq(member.org_id, orgId)).orderBy(asc(member.joined_at), asc(user.id))
  },

  async find(db: Reader, orgId: OrgId, userId: UserId, now: number): Promise<MemberWithAccount | undefined> {
    const member = db.of(members)
    return (await withAccounts(db, orgId, now).where(and(eq(member.org_id, orgId), eq(member.user_id, userId))))[0]
  },

  owners: (db: Reader, org_id: OrgId) => membersOfOrgs.count(db, { org_id, role: 'owner' }),

  /** Number of orgs that the user owns. */
  ownedBy: (db: Reader, user_id: UserId) => membersOfOrgs.count(db, { user_id, role: 'owner' }),

  /** Returns false when the user is already a member. */
  async insert(tx: Tx, row: MemberRow): Promise<boolean> {
    const [table, org] = [tx.of(members), tx.of(orgs)]
    const org_created_at = sql<number>`(select ${org.created_at} from ${org} where ${org.id} = ${row.org_id})`
    const added = tx.insert(table).values({ ...row, org_created_at })
    return (await added.onConflictDoNothing().returning({ id: table.user_id })).length === 1
  },

  setRole: (tx: Tx, { org_id, user_id }: MemberRow, role: Role) =>
    membersOfOrgs.update(tx, { org_id, user_id }, { role }),

  /** Removes the member. Unsets the org if it was the user's active one. */
  async remove(tx: Tx, { org_id, user_id }: MemberRow): Promise<void> {
    await membersOfOrgs.remove(tx, { org_id, user_id })
    await userRows.update(tx, { id: user_id, active_org_id: org_id }, { active_org_id: null })
  },

  async removeAll(tx: Tx, org_id: OrgId): Promise<void> {
    await membersOfOrgs.remove(tx, { org_id })
    await userRows.update(tx, { active_org_id: org_id }, { active_org_id: null })
  },
}

/** Keys are counted once for the org, because a count per member would read all keys of the org each time. */
const withAccounts = (db: Reader, orgId: OrgId, now: number) => {
  const [member, user, session, key] = [db.of(members), db.of(users), db.of(sessions), db.of(apiKeys)]
  const newestUse = sql`(select max(${session.last_seen_at}) from ${session} where ${session.user_id} = ${member.user_id})`
  const keys = db
    .select({ user_id: key.user_id, total: count().as('total') })
    .from(key)
    .where(and(eq(key.org_id, orgId), keyRepository.live(db, now)))
    .groupBy(key.user_id)
    .as('keys')
  return db
    .select({
      org_id: member.org_id,
      user_id: member.user_id,
      role: member.role,
      joined_at: member.joined_at,
      email: user.email,
      name: user.name,
      last_seen_at: newestUse.mapWith(session.last_seen_at) as SQL<number | null>,
      active_keys: sql`coalesce(${keys.total}, 0)`.mapWith(Number),
    })
    .from(member)
    .innerJoin(user, eq(user.id, member.user_id))
    .leftJoin(keys, eq(keys.user_id, member.user_id))
}

const MAX_INVITATIONS = 500

/** Invitations. Invited people reach them only through the hash of the token. */
export const invitationRows = {
  byToken: (db: Reader, token_hash: string) => invited.first(db, { token_hash }),

  /** Invitations that are not accepted yet, newest first. */
  open(db: Reader, org_id: OrgId): Promise<InvitationRow[]> {
    const order = (t: typeof invitations.sqlite) => [desc(t.created_at), desc(t.id)]
    return invited.all(db, { org_id, accepted_at: null }, { order, limit: MAX_INVITATIONS })
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
    const open = { ...(orgId && { org_id: orgId }), id, accepted_at: null }
    return set ? invited.change(tx, open, set) : (await invited.take(tx, open))[0]
  },

  /** Stores the invitation, replacing an earlier one for the same address. The earlier token stops working. */
  async replace(tx: Tx, row: InvitationRow): Promise<void> {
    await invited.remove(tx, { org_id: row.org_id, email: row.email })
    await invited.insert(tx, row)
  },

  /** Returns false when the invitation was already accepted. */
  accept: async (tx: Tx, id: InvitationId, accepted_at: number): Promise<boolean> =>
    (await invited.update(tx, { id, accepted_at: null }, { accepted_at })) === 1,

  removeAll: (tx: Tx, org_id: OrgId) => invited.remove(tx, { org_id }),
}
