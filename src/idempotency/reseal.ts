import { and, asc, eq, gt, isNotNull, or } from 'drizzle-orm'
import { type Resealed, reseal } from '../kernel/crypto'
import type { UserId } from '../kernel/ids'
import type { Reader, Tx } from '../kernel/store'
import { contextOf, idempotencyKeys } from './table'

const BATCH = 200

/**
 * Re-encrypts all stored answers with another master key. If `to` is null, only counts the answers that `from` can
 * open. An answer that cannot be opened stays unchanged, because it was unreadable before.
 */
export async function resealAnswers(db: Reader | Tx, from: Uint8Array, to: Uint8Array | null): Promise<Resealed> {
  const t = db.of(idempotencyKeys)
  const counted = { sealed: 0, unreadable: 0 }
  for (let after: { user_id: UserId; key: string } | null = null; ; ) {
    const beyond = after && or(gt(t.user_id, after.user_id), and(eq(t.user_id, after.user_id), gt(t.key, after.key)))
    const rows: { user_id: UserId; key: string; body: string | null }[] = await db
      .select({ user_id: t.user_id, key: t.key, body: t.body })
      .from(t)
      .where(and(isNotNull(t.body), beyond ?? undefined))
      .orderBy(asc(t.user_id), asc(t.key))
      .limit(BATCH)
    for (const { user_id: userId, key, body: sealed } of rows) {
      const body = reseal(from, to, contextOf({ userId, key }), sealed!)
      counted.sealed += 1
      if (body === null) counted.unreadable += 1
      else if (to !== null && 'update' in db) {
        await db
          .update(t)
          .set({ body })
          .where(and(eq(t.user_id, userId), eq(t.key, key)))
      }
    }
    const last = rows.at(-1)
    if (!last) return counted
    after = last
  }
}
