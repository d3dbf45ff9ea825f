import { and, asc, count, desc, eq, inArray, sql } from 'drizzle-orm'
import type { OrgId, UserId } from '../kernel/ids'
import { command, query, type Reader, type Tx } from '../kernel/store'
import type { Role } from './schema'
import { type MemberRow, members, type OrgRow, orgs, type UserRow, users } from './table'

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

/** The user, and the active org as far as the user still belongs to it. */
const standingOfUser = query<{ id: UserId }>()((db, p) => {
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

const setActiveOrg = command<{ id: UserId; org_id: OrgId | null }>()((tx, p) => {
  const table = tx.of(users)
  return tx
    .update(table)
    .set({ active_org_id: sql`${p.org_id}` })
    .where(eq(table.id, p.id))
})

/** Rows of users, orgs and who belongs where. */
export const orgRepository = {
  user: async (db: Reader, id: UserId): Promise<UserRow | undefined> => (await userById(db, { id }))[0],

  userByEmail: async (db: Reader, email: string): Promise<UserRow | undefined> => (await userByEmail(db, { email }))[0],

  standing: async (db: Reader, id: UserId) => (await standingOfUser(db, { id }))[0],

  org: async (db: Reader, id: OrgId): Promise<OrgRow | undefined> => (await orgById(db, { id }))[0],

  orgBySlug: async (db: Reader, slug: string): Promise<OrgRow | undefined> => (await orgBySlug(db, { slug }))[0],

  orgsByName(db: Reader, name: string): Promise<OrgRow[]> {
    const table = db.of(orgs)
    return db.select().from(table).where(eq(table.name, name)).limit(10) as unknown as Promise<OrgRow[]>
  },

  role: async (db: Reader, org_id: OrgId, user_id: UserId): Promise<Role | null> =>
    (await roleInOrg(db, { org_id, user_id }))[0]?.role ?? null,

  /** The account that was there first: the one the first run made. */
  async oldestUser(db: Reader): Promise<UserRow | undefined> {
    const table = db.of(users)
    return (await db.select().from(table).orderBy(asc(table.created_at), asc(table.id)).limit(1))[0]
  },

  /** Who made the org, or was given it. */
  async ownerOf(db: Reader, id: OrgId): Promise<UserId | undefined> {
    const table = db.of(members)
    const owners = db.select({ user_id: table.user_id }).from(table)
    const mine = owners.where(and(eq(table.org_id, id), eq(table.role, 'owner')))
    return (await mine.orderBy(asc(table.joined_at), asc(table.user_id)).limit(1))[0]?.user_id
  },

  /** False when the address is taken. */
  async insertUser(tx: Tx, row: UserRow): Promise<boolean> {
    const table = tx.of(users)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  /** False when the slug is taken. */
  async insertOrg(tx: Tx, row: OrgRow): Promise<boolean> {
    const table = tx.of(orgs)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  async insertMember(tx: Tx, row: MemberRow): Promise<void> {
    await tx.insert(tx.of(members)).values(row)
  },

  async activate(tx: Tx, id: UserId, org_id: OrgId | null): Promise<void> {
    await setActiveOrg(tx, { id, org_id })
  },

  async setUserDisabled(tx: Tx, id: UserId, disabled_at: number | null): Promise<boolean> {
    const table = tx.of(users)
    const changed = tx.update(table).set({ disabled_at }).where(eq(table.id, id))
    return (await changed.returning({ id: table.id })).length === 1
  },

  async setOrgSuspended(tx: Tx, id: OrgId, suspended_at: number | null, now: number): Promise<boolean> {
    const table = tx.of(orgs)
    const changed = tx.update(table).set({ suspended_at, updated_at: now }).where(eq(table.id, id))
    return (await changed.returning({ id: table.id })).length === 1
  },

  /** The user's orgs with the user's role in each, newest first. */
  async orgsOf(db: Reader, userId: UserId): Promise<{ org: OrgRow; role: Role }[]> {
    const [org, member] = [db.of(orgs), db.of(members)]
    return db
      .select({ org, role: member.role })
      .from(member)
      .innerJoin(org, eq(org.id, member.org_id))
      .where(eq(member.user_id, userId))
      .orderBy(desc(org.created_at), asc(org.id))
  },

  async memberCounts(db: Reader, ids: OrgId[]): Promise<Map<OrgId, number>> {
    if (!ids.length) return new Map()
    const table = db.of(members)
    const counted = db.select({ id: table.org_id, total: count() }).from(table).where(inArray(table.org_id, ids))
    return new Map((await counted.groupBy(table.org_id)).map(({ id, total }) => [id, Number(total)]))
  },

  /** Orgs in which the user has one of these roles. */
  async orgIdsWithRole(db: Reader, userId: UserId, roles: Role[]): Promise<OrgId[]> {
    const table = db.of(members)
    const found = db.select({ id: table.org_id }).from(table)
    return (await found.where(and(eq(table.user_id, userId), inArray(table.role, roles)))).map(({ id }) => id)
  },
}
