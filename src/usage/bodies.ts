import { and, eq, gt, inArray, type SQLWrapper, sql } from 'drizzle-orm'
import { recurring } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { removeOld } from '../kernel/old-rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { type BodyRow, requestBodies } from './table'

/** Longer bodies are not stored. */
const MAX_CHARS = 1024 * 1024
const EVERY_MS = 600_000

/** Stores the request and response of a call, in the transaction that records the call. */
export async function storeBody(tx: Tx, row: BodyRow): Promise<void> {
  if (row.request.length + (row.response?.length ?? 0) > MAX_CHARS) return
  await tx.insert(tx.of(requestBodies)).values(row).onConflictDoNothing()
}

/** The stored body of an owner's call, unless it has expired. */
export async function bodyOf(db: Reader, owner: OwnerScope, id: string, now: number): Promise<BodyRow | undefined> {
  return (
    await db
      .select()
      .from(db.of(requestBodies))
      .where(keptOf(db, owner, [id], now))
      .limit(1)
  )[0]
}

/** The stored sizes of these calls, in UTF-8 bytes. */
export function sizesOf(db: Reader, owner: OwnerScope, ids: readonly string[], now: number) {
  const t = db.of(requestBodies)
  const bytes = <T>(column: SQLWrapper) => sql<T>`octet_length(${column})`
  return db
    .select({
      request_id: t.request_id,
      bytes_in: bytes<number>(t.request),
      bytes_out: bytes<number | null>(t.response),
    })
    .from(t)
    .where(keptOf(db, owner, ids, now))
}

function keptOf(db: Reader, owner: OwnerScope, ids: readonly string[], now: number) {
  const t = db.of(requestBodies)
  return and(inArray(t.request_id, [...ids]), eq(t.owner, owner), gt(t.expires_at, now))
}

/** Deletes all stored bodies of an owner. */
export async function deleteBodies(tx: Tx, owner: OwnerScope): Promise<void> {
  await tx.delete(tx.of(requestBodies)).where(eq(tx.of(requestBodies).owner, owner))
}

/** Job that deletes expired bodies. */
export const expiredBodies = ({ store, clock }: { store: Store; clock: Clock }) =>
  recurring('usage.bodies', EVERY_MS, (signal) =>
    removeOld(store, { table: requestBodies, key: 'request_id', at: 'expires_at' }, clock.now() + 1, signal),
  )
