import { and, desc, eq, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import type { Mark } from '../kernel/page'
import { query, type Reader, type Tx } from '../kernel/store'
import type { GuardrailPolicyId, PolicyScope } from './schema'
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

/** Whose rows are meant: those of these owners or, for operators, anyone's. */
export type Reach = readonly OwnerScope[] | 'everyone'
type Listed = { owners: Reach; scope?: PolicyScope | undefined }

type Table = { owner: typeof guardrailPolicies.sqlite.owner }
const within = ({ owner }: Table, reach: Reach): SQL | undefined =>
  reach === 'everyone' ? undefined : inArray(owner, [...reach])

/** Rows of policies. What tenants read names its owners; the first two are for runs. */
export const policyRepository = {
  byId: async (db: Reader, id: string): Promise<PolicyRow | undefined> => (await byId(db, { id }))[0] as PolicyRow,
  defaultOf: async (db: Reader, owner: OwnerScope): Promise<PolicyRow | undefined> =>
    (await defaultOf(db, { owner }))[0] as PolicyRow,

  async find(db: Reader, owners: Reach, id: GuardrailPolicyId): Promise<PolicyRow | undefined> {
    const table = db.of(guardrailPolicies)
    const found = db.select().from(table)
    const mine = and(eq(table.id, id), within(table, owners))
    return ((await found.where(mine).limit(1)) as PolicyRow[])[0]
  },

  /** Finds it and keeps others from changing or ending it until the unit commits. */
  async findLocked(tx: Tx, owners: Reach, id: GuardrailPolicyId): Promise<PolicyRow | undefined> {
    const table = tx.of(guardrailPolicies)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(and(eq(table.id, id), within(table, owners)))
    return ((await locked.returning()) as PolicyRow[])[0]
  },

  /** Newest first. */
  async list(db: Reader, { owners, scope }: Listed, before: Mark | null, limit: number): Promise<PolicyRow[]> {
    const table = db.of(guardrailPolicies)
    const sameMoment = before && and(eq(table.created_at, before.at), lt(table.id, before.id as GuardrailPolicyId))
    const older = before ? or(lt(table.created_at, before.at), sameMoment ?? undefined) : undefined
    const ofScope = scope && (scope === 'team' ? isNotNull(table.org_id) : isNull(table.org_id))
    const found = db
      .select()
      .from(table)
      .where(and(within(table, owners), ofScope, older))
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
