import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { usageRecords, usageRollups } from './table'

/** The most requests and the most tokens of one key in one clock minute. */
export type Peak = { requests: number; tokens: number }
/** Selects the calls of one key of an owner, or of the owner's busiest key. */
type KeySelector = { owner: OwnerScope; keyId: KeyId | null }

const HOUR_MS = 3_600_000
const DAYS = 7
/** Hours read at most; when so many are equally busy, another one is hardly busier. */
const MAX_HOURS = 48

/**
 * The busiest minute of the last seven days. An hour with fewer calls and tokens than the peak so far cannot hold a
 * busier minute, so only few hours are read. The newest two are always read: the rollups may not have them yet.
 */
export async function peakOf(reader: Reader, selector: KeySelector, now: number): Promise<Peak> {
  const newest = Math.floor(now / HOUR_MS) * HOUR_MS
  const rolled = await hoursOf(reader, selector, { from: newest - DAYS * 24 * HOUR_MS, to: newest - HOUR_MS })
  const fresh = [newest, newest - HOUR_MS].map((at) => ({ at, requests: Infinity, tokens: Infinity }))
  let peak: Peak = { requests: 0, tokens: 0 }
  let hoursRead = 0
  for (const hour of [...fresh, ...rolled.sort((a, b) => b.requests - a.requests)]) {
    if (hour.requests <= peak.requests && hour.tokens <= peak.tokens) continue
    if (hoursRead++ === MAX_HOURS) break
    await nextTurn()
    for (const minute of await minutesOf(reader, selector, hour.at)) {
      peak = {
        requests: Math.max(peak.requests, minute.requests),
        tokens: Math.max(peak.tokens, minute.tokens),
      }
    }
  }
  return peak
}

async function hoursOf(db: Reader, { owner, keyId }: KeySelector, { from, to }: { from: number; to: number }) {
  const r = db.of(usageRollups)
  return db
    .select({
      at: r.at,
      requests: whole(sql`sum(${r.requests})`),
      tokens: whole(sql`sum(${r.prompt_tokens} + ${r.completion_tokens})`),
    })
    .from(r)
    .where(
      and(
        eq(r.owner, owner),
        eq(r.grain, 'hour'),
        eq(r.api_key, keyId ?? ''),
        eq(r.skill, ''),
        gte(r.at, from),
        lt(r.at, to),
      ),
    )
    .groupBy(r.at)
}

async function minutesOf(db: Reader, { owner, keyId }: KeySelector, hour: number) {
  const t = db.of(usageRecords)
  return db
    .select({
      requests: whole(sql`count(*)`),
      tokens: whole(sql`sum(${t.prompt_tokens} + ${t.completion_tokens})`),
    })
    .from(t)
    .where(
      and(
        eq(t.owner, owner),
        gte(t.at, hour),
        lt(t.at, hour + HOUR_MS),
        keyId === null ? undefined : eq(t.api_key_id, keyId),
      ),
    )
    .groupBy(t.api_key_id, sql`${t.at} / 60000`)
}

const whole = (value: SQL) => sql<number>`${value}`.mapWith(Number)
