import { asc, eq, gt } from 'drizzle-orm'
import { type Resealed, reseal } from '../kernel/crypto'
import type { Reader, Tx } from '../kernel/store'
import { contextOf } from './rules'
import type { WebhookId } from './schema'
import { webhooks } from './table'

const BATCH = 500

/**
 * Encrypts the signing secrets of all owners with another master key. Without one, only counts the secrets that `from`
 * decrypts. Secrets that `from` does not decrypt stay unchanged.
 */
export async function resealWebhooks(db: Reader | Tx, from: Uint8Array, to: Uint8Array | null): Promise<Resealed> {
  const t = db.of(webhooks)
  const counted = { sealed: 0, unreadable: 0 }
  for (let after = ''; ; ) {
    const rows = await db
      .select({ id: t.id, secret: t.secret, previous_secret: t.previous_secret })
      .from(t)
      .where(gt(t.id, after as WebhookId))
      .orderBy(asc(t.id))
      .limit(BATCH)
    for (const { id, secret, previous_secret: previous } of rows) {
      const again = (sealed: string) => reseal(from, to, contextOf(id), sealed)
      const fresh = { secret: again(secret), previous_secret: previous === null ? null : again(previous) }
      counted.sealed += 1
      if (fresh.secret === null) counted.unreadable += 1
      else if (to !== null && 'update' in db) {
        await db.update(t).set({ secret: fresh.secret, previous_secret: fresh.previous_secret }).where(eq(t.id, id))
      }
    }
    const last = rows.at(-1)
    if (!last) return counted
    after = last.id
  }
}
