import { and, count, eq, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import { pagesAmong, pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
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

/** The owners whose rows are visible; `everyone` for operators. */
export type Reach = readonly OwnerScope[] | 'everyone'
type Listed = Wanted & { owners: Reach; scope?: PolicyScope | undefined }

type Table = { owner: typeof guardrailPolicies.sqlite.owner }
const within = ({ owner }: Table, reach: Reach): SQL | undefined =>
  reach === 'everyone' ? undefined : inArray(owner, [...reach])

const newestFirst = pagesBy(guardrailPolicies, 'created_at')
const newestOfSome = pagesAmong(guardrailPolicies, 'created_at')

/** Rows of policies. `byId` and `defaultOf` are for runs; everything tenants read is filtered by owners. */
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

  /** Finds and locks a policy until the transaction commits. */
  async findLocked(tx: Tx, owners: Reach, id: GuardrailPolicyId): Promise<PolicyRow | undefined> {
    const table = tx.of(guardrailPolicies)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(and(eq(table.id, id), within(table, owners)))
    return ((await locked.returning()) as PolicyRow[])[0]
  },

  list(db: Reader, { owners, scope, ...wanted }: Listed): Promise<Page<PolicyRow>> {
    const table = db.of(guardrailPolicies)
    const ofScope = scope && (scope === 'team' ? isNotNull(table.org_id) : isNull(table.org_id))
    if (owners === 'everyone') return newestFirst(db, wanted, ofScope)
    const ofOwners = owners.map((owner) => eq(table.owner, owner))
    return newestOfSome(db, wanted, ofOwners, ofScope)
  },

  async count(db: Reader, owner: OwnerScope): Promise<number> {
    const table = db.of(guardrailPolicies)
    const counted = db.select({ total: count() }).from(table)
    return Number((await counted.where(eq(table.owner, owner)))[0]?.total ?? 0)
  },

  /** Violates the unique index when the owner has another default. */
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
    return (await db
      .select()
      .from(table)
      .where(eq(table.owner, `org:${orgId}`))) as PolicyRow[]
  },
}
