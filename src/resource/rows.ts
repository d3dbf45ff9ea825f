import { and, eq, inArray, isNotNull, isNull, or, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import { type PageRequest, pagesAmong, pagesBy, pagesOfLarge } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import { type Kit, query, type Reader, type Table, type Tx } from '../kernel/store'

/** The columns that every resource has. */
export const ownedColumns = <Id extends string>(k: Kit) => ({
  id: k.text('id').$type<Id>().primaryKey(),
  /** The person, or the organization for a team's row. */
  owner: k.text('owner').$type<OwnerScope>().notNull(),
  /** The user who created it. */
  user_id: k.text('user_id').$type<UserId>().notNull(),
  /** Null for a person's own row. */
  org_id: k.text('org_id').$type<OrgId>(),
  name: k.text('name').notNull(),
  created_at: k.ms('created_at').notNull(),
  updated_at: k.ms('updated_at').notNull(),
})

type Indexed = Record<'id' | 'owner' | Moment, never> & { is_default?: SQLWrapper }

/**
 * The indexes of a resource's lists, by owner and by age in the column `moment`. With a column `is_default`, a unique
 * index permits one default per owner, also with concurrent requests.
 */
export const ownedIndexes = (k: Kit, name: string, columns: object, moment: Moment = 'created_at') => {
  const t = columns as Indexed
  return [
    k.index(`${name}_by_owner`).on(t.owner, t[moment], t.id),
    k.index(`${name}_by_age`).on(t[moment], t.id),
    ...(t.is_default ? [k.uniqueIndex(`${name}_default`).on(t.owner).where(sql`${t.is_default}`)] : []),
  ]
}

/** The owners whose rows are visible. `everyone` for operators, and for a run that follows a binding. */
export type Scope = readonly OwnerScope[] | 'everyone'

/** The columns that this module reads (see `ownedColumns`). `is_default` exists if an owner may have one default. */
export type OwnedRow = {
  id: string
  owner: OwnerScope
  user_id: UserId
  org_id: OrgId | null
  name: string
  is_default?: boolean
  created_at: number
  updated_at: number
}
export type OwnedTable = SQLiteTable &
  Record<'id' | 'owner' | 'org_id' | 'name' | Moment, SQLiteColumn> & { is_default?: SQLiteColumn }

/** The timestamp that orders a list. */
export type Moment = 'created_at' | 'updated_at'
/**
 * The order of a list. `size` is the column with a row's size in bytes, if rows may be large. `maxRows` is the largest
 * page, if it is smaller than the usual one.
 */
export type Params = { by: Moment; size?: string; maxRows?: number }

export type OwnedScope = 'personal' | 'team'
export type Listed = PageRequest & { scope?: OwnedScope | undefined }

/** Whether a row belongs to a person or a team. */
export const scopeOf = ({ org_id }: Pick<OwnedRow, 'org_id'>): OwnedScope => (org_id ? 'team' : 'personal')

const NEWEST: Params = { by: 'created_at' }
const isOf = { personal: 'user:', team: 'org:' }

/** The rows of a resource. Each read and write takes the owners as an argument (docs/promises.md I22). */
export function createRows<Row extends OwnedRow>(
  listed: Table<OwnedTable>,
  { by, size, maxRows = Infinity }: Params = NEWEST,
) {
  const newestFirst = size ? pagesOfLarge(listed as Table<never>, by, size) : pagesBy(listed, by)
  const newestOfSome = pagesAmong(listed, by, newestFirst)
  const one = (table: OwnedTable, scope: Scope, id: string) =>
    and(eq(table.id, id), scope === 'everyone' ? undefined : inArray(table.owner, [...scope]))

  const defaultOf = query<{ owner: OwnerScope }>()((db, p) => {
    const table = db.of(listed)
    const mine = and(eq(table.owner, p.owner), sql`${table.is_default}`)
    return db
      .select()
      .from(table as SQLiteTable)
      .where(mine)
      .limit(1)
  })

  const oneOf = query<{ id: string; owner: OwnerScope }>()((db, p) => {
    const table = db.of(listed)
    const mine = and(eq(table.id, p.id), eq(table.owner, p.owner))
    return db
      .select()
      .from(table as SQLiteTable)
      .where(mine)
      .limit(1)
  })

  return {
    async find(db: Reader, scope: Scope, id: string): Promise<Row | undefined> {
      const table = db.of(listed)
      const [owner] = scope
      if (scope !== 'everyone' && scope.length === 1)
        return ((await oneOf(db, { id, owner: owner as OwnerScope })) as Row[])[0]
      const found = db.select().from(table as SQLiteTable)
      return ((await found.where(one(table, scope, id)).limit(1)) as Row[])[0]
    },

    /** Finds a row and locks it until the transaction commits, so that it is neither changed nor deleted meanwhile. */
    async findLocked(tx: Tx, scope: Scope, id: string): Promise<Row | undefined> {
      const table = tx.of(listed)
      const locked = tx
        .update(table)
        .set({ name: sql`${table.name}` } as never)
        .where(one(table, scope, id))
      return ((await locked.returning()) as Row[])[0]
    },

    /** Newest first. */
    list(db: Reader, ownerScope: Scope, { scope, limit, cursor }: Listed): Promise<Page<Row>> {
      const table = db.of(listed)
      const wanted = { limit: Math.min(limit, maxRows), cursor }
      if (ownerScope === 'everyone') {
        const ofScope = scope && (scope === 'team' ? isNotNull(table.org_id) : isNull(table.org_id))
        return newestFirst(db, wanted, ofScope) as Promise<Page<Row>>
      }
      const owners = ownerScope.filter((owner) => scope === undefined || owner.startsWith(isOf[scope]))
      const ofOwners = owners.map((owner) => eq(table.owner, owner))
      return newestOfSome(db, wanted, ofOwners) as Promise<Page<Row>>
    },

    /** Rows of these owners whose id or label starts with a word, ignoring case. */
    async search(db: Reader, owners: Scope, label: string, word: string, limit: number) {
      const table = db.of(listed) as OwnedTable & Record<string, SQLiteColumn>
      const begins = (column: SQLiteColumn) => sql`lower(substr(${column}, 1, ${word.length})) = ${word.toLowerCase()}`
      const shown = table[label]!
      return (await db
        .select({ id: table.id, label: shown })
        .from(table as SQLiteTable)
        .where(
          and(
            owners === 'everyone' ? undefined : inArray(table.owner, [...owners]),
            or(begins(table.id), begins(shown)),
          ),
        )
        .limit(limit)) as { id: string; label: string }[]
    },

    async count(db: Reader, owner: OwnerScope): Promise<number> {
      const table = db.of(listed)
      return db.$count(table, eq(table.owner, owner))
    },

    /** The default of an owner, if the resource has defaults. */
    defaultOf: async (db: Reader, owner: OwnerScope): Promise<Row | undefined> =>
      ((await defaultOf(db, { owner })) as Row[])[0],

    /** Violates the unique index when the owner already has a default. */
    async insert(tx: Tx, row: Row): Promise<void> {
      await tx.insert(tx.of(listed)).values(row as never)
    },

    /** Throws like `insert`. The row must be one of the scope. */
    async update(tx: Tx, scope: Scope, id: string, change: Partial<Row>): Promise<Row> {
      const table = tx.of(listed)
      const changed = tx
        .update(table)
        .set(change as never)
        .where(one(table, scope, id))
      return ((await changed.returning()) as Row[])[0]!
    },

    async remove(tx: Tx, scope: Scope, id: string): Promise<void> {
      const table = tx.of(listed)
      await tx.delete(table).where(one(table, scope, id))
    },

    /** Deletes all rows of an owner and yields them one by one, because together they may be large. */
    async *removeAll(tx: Tx, owner: OwnerScope): AsyncGenerator<Row> {
      const table = tx.of(listed)
      const found = tx.select({ id: table.id }).from(table as SQLiteTable)
      for (const { id } of await found.where(eq(table.owner, owner))) {
        yield* (await tx
          .delete(table)
          .where(one(table, [owner], id as string))
          .returning()) as Row[]
      }
    },
  }
}

export type Rows<Row extends OwnedRow> = ReturnType<typeof createRows<Row>>
