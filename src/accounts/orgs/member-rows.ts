import { and, asc, count, eq, sql } from 'drizzle-orm'
import type { OrgId, UserId } from '../../kernel/ids'
import type { Reader, Tx } from '../../kernel/store'
import type { Role } from './schema'
import { type MemberRow, members, orgs, users } from './table'

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
    const counted = db.select({ total: count() }).from(table)
    const [found] = await counted.where(and(eq(table.org_id, orgId), eq(table.role, 'owner')))
    return Number(found?.total ?? 0)
  },

  /** In how many orgs the user is an owner. */
  async ownedBy(db: Reader, userId: UserId): Promise<number> {
    const table = db.of(members)
    const counted = db.select({ total: count() }).from(table)
    const [found] = await counted.where(and(eq(table.user_id, userId), eq(table.role, 'owner')))
    return Number(found?.total ?? 0)
  },

  /** False when the user is already a member. */
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

  /** Removes the member, and unsets the org where it was their active one. */
  async remove(tx: Tx, { org_id, user_id }: MemberRow): Promise<void> {
    const [member, user] = [tx.of(members), tx.of(users)]
    await tx.delete(member).where(and(eq(member.org_id, org_id), eq(member.user_id, user_id)))
    await tx
      .update(user)
      .set({ active_org_id: null })
      .where(and(eq(user.id, user_id), eq(user.active_org_id, org_id)))
  },

  /** Removes all members. */
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
