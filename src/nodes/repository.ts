import { and, eq, isNull, lte, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import { command, postgresNow, query, type Reader, type Store, type Tx } from '../kernel/store'
import { nodes } from './table'

/** How long a node is taken to live after it last said so. */
export const LEASE_MS = 5_000

/** What a process says of itself: its data folder, its roles, and whether it keeps files there. */
export type About = { home: string; roles: string; ownFiles: boolean }

type Renewal = { id: string; home: string | null; roles: string | null; own_files: boolean | null }

/**
 * Of the others with a lease `serving` do more than one command, with `roles`, comma-separated; `before` of these have
 * an id that sorts before.
 */
export type Lease = {
  until: number
  lapsed: boolean
  serving: number
  before: number
  roles: string
  own_folders: number
}

const renewed = command<Renewal>()((tx, p) => {
  const t = tx.of(nodes)
  const until = sql`${postgresNow} + ${LEASE_MS}::bigint`
  const ofOthers = (what: SQL) =>
    sql`(select ${what} from ${t} as each where each.id <> ${p.id} and each.lease_until > ${postgresNow})`
  return tx
    .insert(t)
    .values({ id: p.id, home: p.home, roles: p.roles, own_files: p.own_files, lease_until: until } as never)
    .onConflictDoUpdate({
      target: t.id,
      set: {
        lease_until: until,
        home: sql`coalesce(excluded.home, ${t.home})`,
        roles: sql`coalesce(excluded.roles, ${t.roles})`,
        own_files: sql`coalesce(excluded.own_files, ${t.own_files})`,
      } as never,
    })
    .returning({
      until: t.lease_until,
      lapsed: sql<boolean>`exists (select 1 from ${t} as each where each.lease_until <= ${postgresNow})`,
      serving: sql<number>`${ofOthers(sql`(count(*) filter (where each.roles <> ''))::int`)}`,
      before: sql<number>`${ofOthers(sql`(count(*) filter (where each.roles <> '' and each.id collate "C" < ${p.id}))::int`)}`,
      roles: sql<string>`${ofOthers(sql`coalesce(string_agg(each.roles, ',') filter (where each.roles <> ''), '')`)}`,
      own_folders: sql<number>`${ofOthers(sql`(count(*) filter (where each.own_files and each.roles <> ''))::int`)}`,
    })
})

/**
 * Renews the lease of a node, or begins one. Returns when it ends, by the database's clock, whether there was one that
 * had ended, and what the other nodes with one do. Without `about` what it said before stays. Postgres only.
 */
export async function renewLease(tx: Tx, id: string, about: About | null = null) {
  const { home = null, roles = null, ownFiles: own_files = null } = about ?? {}
  const [lease] = await renewed(tx, { id, home, roles, own_files })
  return lease as Lease
}

/** Removes nodes whose lease has ended. */
export const removeLapsed = command()((tx) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(lte(t.lease_until, postgresNow))
})

/** Removes the nodes that used this data folder before: its lock tells that they have ended. */
export const removeEarlier = command<{ id: string; home: string }>()((tx, p) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(and(eq(t.home, p.home), ne(t.id, p.id)))
})

export const remove = command<{ id: string }>()((tx, p) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(eq(t.id, p.id))
})

const others = query<{ home: string }>()((db, p) => {
  const t = db.of(nodes)
  const isOther = or(isNull(t.home), ne(t.home, p.home))
  return db
    .select({ id: t.id })
    .from(t)
    .where(and(isOther, sql`${t.lease_until} > ${postgresNow}`))
    .limit(1)
})

/** Whether processes of other data folders serve this database now; never on SQLite. */
export const hasOtherNodes = async ({ dialect, read }: Store, home: string): Promise<boolean> =>
  dialect === 'postgres' && (await others(read, { home })).length > 0

/** Whether a node has a lease at this instant; for statements on Postgres. */
export function hasLease(db: Reader, id: unknown): SQL {
  const t = db.of(nodes)
  return sql`EXISTS (SELECT 1 FROM ${t} WHERE ${t.id} = ${id} AND ${t.lease_until} > ${postgresNow})`
}

/** Whether a node is not among those that serve: it has left, or its lease has ended and others saw it. */
export function isGone(db: Reader, id: SQL.Aliased | SQL | Parameters<typeof eq>[1]): SQL {
  const t = db.of(nodes)
  return notExists(
    db
      .select({ id: t.id })
      .from(t)
      .where(eq(t.id, id as never)),
  )
}
