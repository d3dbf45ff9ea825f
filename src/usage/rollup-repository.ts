import { and, asc, eq, gt, lte, max, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { addedOf, allOf, command, counted, query, type Reader, someOf } from '../kernel/store'
import { emptySums, type RollupKey, SUMS, WIDTHS } from './buckets'
import {
  callFields,
  type Grain,
  type RollupRow,
  speedFields,
  usageCursors,
  usageRecords,
  usageRollups,
  usageSkills,
} from './table'

/** Name of the only cursor row. */
export const CURSOR = 'rollups'

export const cursorAt = query()((db) => {
  const t = db.of(usageCursors)
  return db.select({ position: t.position }).from(t).where(eq(t.name, CURSOR))
})

/** The id up to which calls are in the rollups. */
export const rolledUpTo = async (db: Reader): Promise<number> => (await cursorAt(db, {}))[0]?.position ?? 0

export const placeCursor = command()((tx) =>
  tx.insert(tx.of(usageCursors)).values({ name: CURSOR, position: 0 }).onConflictDoNothing(),
)

/** Moves the cursor if it is still at `from`. 0 rows when another node was faster. */
export const moveCursor = counted<{ from: number; to: number }>()((tx, p) => {
  const t = tx.of(usageCursors)
  return tx
    .update(t)
    .set({ position: sql`${p.to}` })
    .where(and(eq(t.name, CURSOR), eq(t.position, p.from)))
})

export const newestId = query()((db) => {
  const t = db.of(usageRecords)
  return db.select({ id: max(t.id) }).from(t)
})

export const recordsAfter = query<{ above: number; upTo: number; limit: number }>()((db, p) => {
  const t = db.of(usageRecords)
  return db
    .select({ ...callFields(t), ...speedFields(t) })
    .from(t)
    .where(and(gt(t.id, p.above), lte(t.id, p.upTo)))
    .orderBy(asc(t.id))
    .limit(p.limit)
})

const skillRows = query<{ first: number; last: number }>()((db, p) => {
  const t = db.of(usageSkills)
  return db
    .select({ record_id: t.record_id, skill: t.skill })
    .from(t)
    .where(and(sql`${t.record_id} >= ${p.first}`, lte(t.record_id, p.last)))
})

/** The skills of these records, by record id. Records without skills have no entry. */
export async function skillsOf(db: Reader, records: readonly { id: number }[]): Promise<Map<number, string[]>> {
  const skills = new Map<number, string[]>()
  if (!records.length) return skills
  const ids = records.map(({ id }) => id)
  for (const row of await skillRows(db, { first: Math.min(...ids), last: Math.max(...ids) })) {
    const known = skills.get(row.record_id)
    if (known) known.push(row.skill)
    else skills.set(row.record_id, [row.skill])
  }
  return skills
}

/** The primary key of a bucket. */
const KEY = ['owner', 'grain', 'api_key', 'at', 'skill', 'mode', 'resolved_mode', 'model'] as const
export const latencyAt = query<RollupKey>()((db, p) => {
  const t = db.of(usageRollups)
  return db
    .select({ latency: t.latency })
    .from(t)
    .where(and(...KEY.map((name) => eq(t[name], p[name]))))
})

type RequestsIn = { owner: OwnerScope; api_key: string; grain: Grain; finer: Grain; from: number; to: number }

const requestsIn = query<RequestsIn>()((db, p) => {
  const t = db.of(usageRollups)
  return db
    .select({ grain: t.grain, at: t.at, requests: t.requests })
    .from(t)
    .where(
      and(
        ...[eq(t.owner, p.owner), or(eq(t.grain, p.grain), eq(t.grain, p.finer))],
        ...[eq(t.api_key, p.api_key), eq(t.skill, sql`''`)],
        ...[sql`${t.at} >= ${p.from}`, sql`${t.at} < ${p.to}`],
      ),
    )
})

/**
 * The requests of a key, or of all keys (empty string), in a bucket, in the one before, and in the finer buckets of this
 * one. The finer ones have all of them, or they are not stored there. During an upgrade an older node may have left some
 * out.
 */
export async function requestsOf(
  db: Reader,
  { owner, api_key, grain, at: start }: Pick<RollupKey, 'owner' | 'api_key' | 'grain' | 'at'>,
  finer: Grain,
) {
  const found = { its: 0, before: 0, finer: 0 }
  const [from, to] = [start - WIDTHS[grain], start + WIDTHS[grain]]
  for (const row of await requestsIn(db, { owner, api_key, grain, finer, from, to }))
    if (row.grain === grain) found[row.at === start ? 'its' : 'before'] += row.requests
    else if (row.at >= start) found.finer += row.requests
  return found
}

/** Adds to the sums of a bucket, or creates it. Replaces the histogram. */
export const addToRollup = command<RollupRow>()((tx, p) => {
  const t = tx.of(usageRollups)
  return tx
    .insert(t)
    .values(allOf(t, p))
    .onConflictDoUpdate({
      target: KEY.map((name) => t[name]),
      set: { ...addedOf(t, SUMS), latency: sql`excluded.latency` },
    })
})

/** Adds rejected calls to a bucket, or creates one for them. An existing histogram stays unchanged. */
export const addRefused = command<RollupKey & { refused: number }>()((tx, p) => {
  const t = tx.of(usageRollups)
  return tx
    .insert(t)
    .values({ ...someOf(p, KEY), ...emptySums(), client_errors: p.refused, refused: p.refused, latency: '' })
    .onConflictDoUpdate({ target: KEY.map((name) => t[name]), set: addedOf(t, ['client_errors', 'refused']) })
})
