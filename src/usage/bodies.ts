import { and, eq, gt, inArray, type SQLWrapper, sql } from 'drizzle-orm'
import { recurring } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { removeOld } from '../kernel/old-rows'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { type BodyRow, requestBodies } from './table'

/** Longer bodies are not stored. */
const MAX_CHARS = 1024 * 1024
const EVERY_MS = 600_000

const rows = rowsOf(requestBodies)

/** Stores the request and response of a call, in the transaction that records the call. */
export async function storeBody(tx: Tx, row: BodyRow): Promise<void> {
  if (row.request.length + (row.response?.length ?? 0) > MAX_CHARS) return
  await rows.add(tx, row)
}

/** The stored body of an owner's call, unless it has expired. */
export const bodyOf = (db: Reader, owner: OwnerScope, request_id: string, now: number): Promise<BodyRow | undefined> =>
  rows.first(db, { request_id, owner }, (t) => gt(t.expires_at, now))

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
    .where(and(inArray(t.request_id, [...ids]), eq(t.owner, owner), gt(t.expires_at, now)))
}

/** Deletes all stored bodies of an owner. */
export const deleteBodies = async (tx: Tx, owner: OwnerScope): Promise<void> => void (await rows.remove(tx, { owner }))

/** Job that deletes expired bodies. */
export const expiredBodies = ({ store, clock }: { store: Store; clock: Clock }) =>
  recurring('usage.bodies', EVERY_MS, (signal) =>
    removeOld(store, { table: requestBodies, key: 'request_id', at: 'expires_at' }, clock.now() + 1, signal),
  )
