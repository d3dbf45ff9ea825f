import { and, count, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { pagesAmong, pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import { query, type Reader, type Tx } from '../kernel/store'
import type { PreferenceId, PreferenceScope } from './schema'
import { type PreferenceRow, routingCorrections, routingPreferences } from './table'

const byId = query<{ id: PreferenceId }>()((db, p) => {
  const table = db.of(routingPreferences)
  return db.select().from(table).where(eq(table.id, p.id)).limit(1)
})

const defaultOf = query<{ owner: OwnerScope }>()((db, p) => {
  const table = db.of(routingPreferences)
  return db
    .select()
    .from(table)
    .where(and(eq(table.owner, p.owner), sql`${table.is_default}`))
    .limit(1)
})

/** The owners whose rows may be read; `everyone` is for operators. */
export type Reach = readonly OwnerScope[] | 'everyone'
type Listed = Wanted & { owners: Reach; scope?: PreferenceScope | undefined }

const within = ({ owner }: { owner: typeof routingPreferences.sqlite.owner }, reach: Reach): SQL | undefined =>
  reach === 'everyone' ? undefined : inArray(owner, [...reach])

const newestFirst = pagesBy(routingPreferences, 'created_at')
const newestOfSome = pagesAmong(routingPreferences, 'created_at')

/** Rows of preferences. Reads of tenants are filtered by owner; `bound` and `defaultOf` serve routing itself. */
export const preferenceRepository = {
  /** By id alone, for a key that the preference is bound to. */
  bound: async (db: Reader, id: PreferenceId): Promise<PreferenceRow | undefined> => (await byId(db, { id }))[0],

  defaultOf: async (db: Reader, owner: OwnerScope): Promise<PreferenceRow | undefined> =>
    (await defaultOf(db, { owner }))[0],

  async find(db: Reader, owners: Reach, id: PreferenceId): Promise<PreferenceRow | undefined> {
    const table = db.of(routingPreferences)
    const found = await db
      .select()
      .from(table)
      .where(and(eq(table.id, id), within(table, owners)))
      .limit(1)
    return found[0]
  },

  /** Finds and locks a preference until the transaction commits, so that it is neither changed nor deleted meanwhile. */
  async findLocked(tx: Tx, owners: Reach, id: PreferenceId): Promise<PreferenceRow | undefined> {
    const table = tx.of(routingPreferences)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(and(eq(table.id, id), within(table, owners)))
    return (await locked.returning())[0]
  },

  list(db: Reader, { owners, scope, ...wanted }: Listed): Promise<Page<PreferenceRow>> {
    const table = db.of(routingPreferences)
    if (owners === 'everyone') return newestFirst(db, wanted, scope && eq(table.scope, scope))
    const kind = scope && (scope === 'team' ? 'org:' : 'user:')
    const ofScope = owners.filter((owner) => kind === undefined || owner.startsWith(kind))
    const ofOwners = ofScope.map((owner) => eq(table.owner, owner))
    return newestOfSome(db, wanted, ofOwners)
  },

  async count(db: Reader, owner: OwnerScope): Promise<number> {
    const table = db.of(routingPreferences)
    const counted = db.select({ total: count() }).from(table)
    return Number((await counted.where(eq(table.owner, owner)))[0]?.total ?? 0)
  },

  insert: async (tx: Tx, row: PreferenceRow): Promise<void> => {
    await tx.insert(tx.of(routingPreferences)).values(row)
  },

  async update(tx: Tx, id: PreferenceId, change: Partial<PreferenceRow>): Promise<PreferenceRow> {
    const table = tx.of(routingPreferences)
    const [row] = await tx.update(table).set(change).where(eq(table.id, id)).returning()
    return row!
  },

  remove: async (tx: Tx, id: PreferenceId): Promise<void> => {
    await tx.delete(tx.of(routingPreferences)).where(eq(tx.of(routingPreferences).id, id))
  },

  /** Removes an owner's preferences and corrections; returns the removed preferences. */
  async removeAll(tx: Tx, owner: OwnerScope): Promise<PreferenceRow[]> {
    const table = tx.of(routingPreferences)
    await tx.delete(tx.of(routingCorrections)).where(eq(tx.of(routingCorrections).owner, owner))
    return (await tx.delete(table).where(eq(table.owner, owner)).returning()) as PreferenceRow[]
  },
}
