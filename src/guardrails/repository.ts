import { and, desc, eq, inArray, lt, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import type { Mark } from '../kernel/page'
import { query, type Reader, type Tx } from '../kernel/store'
import type { GuardrailPolicyId } from './schema'
import { guardrailPolicies, type PolicyRow } from './table'

const byId = query<{ id: string }>()((db, p) => {
  const table = db.of(guardrailPolicies)
  return db
    .select()
    .from(table)
    .where(eq(table.id, p.id as never))
    .limit(1)
})

const defaultOf = query<{ owner: OwnerScope }>()((db, p) => {
  const table = db.of(guardrailPolicies)
  return db.select().from(table).where(eq(table.default_of, p.owner)).limit(1)
})

/** Rows of policies. What tenants read names its owners; the first two are for runs and operators. */
export const policyRepository = {
  byId: async (db: Reader, id: string): Promise<PolicyRow | undefined> => (await byId(db, { id }))[0] as PolicyRow,
  defaultOf: async (db: Reader, owner: OwnerScope): Promise<PolicyRow | undefined> =>
    (await defaultOf(db, { owner }))[0] as PolicyRow,

  async find(db: Reader, owners: readonly OwnerScope[], id: GuardrailPolicyId): Promise<PolicyRow | undefined> {
    const table = db.of(guardrailPolicies)
    const found = db.select().from(table)
    const mine = and(eq(table.id, id), inArray(table.owner, [...owners]))
    return ((await found.where(mine).limit(1)) as PolicyRow[])[0]
  },

  /** Finds it and keeps others from changing or ending it until the unit commits. */
  async findLocked(tx: Tx, owners: readonly OwnerScope[], id: GuardrailPolicyId): Promise<PolicyRow | undefined> {
    const table = tx.of(guardrailPolicies)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(and(eq(table.id, id), inArray(table.owner, [...owners])))
    return ((await locked.returning()) as PolicyRow[])[0]
  },

  /** Newest first. */
  async list(db: Reader, owners: readonly OwnerScope[], before: Mark | null, limit: number): Promise<PolicyRow[]> {
    const table = db.of(guardrailPolicies)
    const sameMoment = before && and(eq(table.created_at, before.at), lt(table.id, before.id as GuardrailPolicyId))
    const older = before ? or(lt(table.created_at, before.at), sameMoment ?? undefined) : undefined
    const found = db
      .select()
      .from(table)
      .where(and(inArray(table.owner, [...owners]), older))
    return (await found.orderBy(desc(table.created_at), desc(table.id)).limit(limit)) as PolicyRow[]
  },

  /** Breaks the unique index when the owner has another default. */
  async insert(tx: Tx, row: PolicyRow): Promise<void> {
    await tx.insert(tx.of(guardrailPolicies)).values(row)
  },

  /** As {@link insert}. */
  async update(tx: Tx, id: GuardrailPolicyId, change: Partial<PolicyRow>): Promise<PolicyRow> {
    const table = tx.of(guardrailPolicies)
    const changed = tx.update(table).set(change).where(eq(table.id, id))
    return ((await changed.returning()) as PolicyRow[])[0]!
  },

  async remove(tx: Tx, id: GuardrailPolicyId): Promise<void> {
    const table = tx.of(guardrailPolicies)
    await tx.delete(table).where(eq(table.id, id))
  },

  async ofOrg(db: Reader, orgId: OrgId): Promise<PolicyRow[]> {
    const table = db.of(guardrailPolicies)
    return (await db.select().from(table).where(eq(table.org_id, orgId))) as PolicyRow[]
  },
}
