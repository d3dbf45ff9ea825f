import { and, desc, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { UserId } from '../kernel/ids'
import { command, counted, query, type Reader, type Tx } from '../kernel/store'
import { type IdempotencyRow, idempotencyKeys } from './table'

type Holder = { user_id: UserId; key: string; request_id: string }
type Claim = Holder & Pick<IdempotencyRow, 'fingerprint' | 'lease_until' | 'expires_at'> & { now: number }

const find = query<{ user_id: UserId; key: string }>()((db, p) => {
  const t = db.of(idempotencyKeys)
  return db
    .select()
    .from(t)
    .where(and(eq(t.user_id, p.user_id), eq(t.key, p.key)))
})

/** Stored answers that have not expired, newest first. */
const answered = query<{ now: number; limit: number }>()((db, p) => {
  const t = db.of(idempotencyKeys)
  return db
    .select({ user_id: t.user_id, key: t.key, body: t.body })
    .from(t)
    .where(and(gt(t.expires_at, p.now), isNotNull(t.status)))
    .orderBy(desc(t.expires_at))
    .limit(p.limit)
})

/** Claims a key that is new, expired, or whose lease has lapsed. Returns 1 when the claim succeeded. */
const claim = counted<Claim>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  const { user_id, key, request_id, fingerprint, lease_until, expires_at } = p
  const begun = { request_id, fingerprint, status: sql`NULL`, body: sql`NULL`, lease_until, expires_at }
  return tx
    .insert(t)
    .values({ user_id, key, ...begun } as never)
    .onConflictDoUpdate({
      target: [t.user_id, t.key],
      set: begun as never,
      setWhere: or(lte(t.expires_at, p.now), and(isNull(t.status), lte(t.lease_until, p.now))),
    })
})

/** Stores the answer. Returns 0 when this request no longer holds the key. */
const answer = counted<Holder & { status: number; body: string; expires_at: number }>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  return tx
    .update(t)
    .set({ status: p.status, body: p.body, expires_at: p.expires_at } as never)
    .where(heldBy(t, p))
})

const release = command<Holder>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  return tx.delete(t).where(heldBy(t, p))
})

type Table = typeof idempotencyKeys.sqlite
type Places = Record<'user_id' | 'key' | 'request_id', Parameters<typeof sql>[1]>

const heldBy = (t: Table, p: Places) =>
  and(eq(t.user_id, p.user_id), eq(t.key, p.key), eq(t.request_id, p.request_id), isNull(t.status))

/** Extends the leases of the requests that run in this process. */
const renew = async (tx: Tx, requestIds: readonly string[], leaseUntil: number): Promise<void> => {
  const t = tx.of(idempotencyKeys)
  await tx
    .update(t)
    .set({ lease_until: leaseUntil })
    .where(and(inArray(t.request_id, [...requestIds]), isNull(t.status)))
}

/** Deletes the keys that expired first: as many as `limit`, and those that expired with the last of them. */
const removeExpired = async (tx: Tx, now: number, limit: number): Promise<number> => {
  const t = tx.of(idempotencyKeys)
  const due = await tx
    .select({ at: t.expires_at })
    .from(t)
    .where(lte(t.expires_at, now))
    .orderBy(t.expires_at)
    .limit(limit)
  const last = due.at(-1)
  if (!last) return 0
  await tx.delete(t).where(lte(t.expires_at, last.at))
  return due.length
}

/** When the first key expires, in epoch milliseconds; null where there is none. */
const soonest = async (db: Reader): Promise<number | null> => {
  const t = db.of(idempotencyKeys)
  const [first] = await db.select({ at: t.expires_at }).from(t).orderBy(t.expires_at).limit(1)
  return first?.at ?? null
}

export const idempotencyRepository = { soonest, find, answered, claim, answer, release, renew, removeExpired }
