import { and, asc, eq, gt, gte, inArray, lt, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import type { Calls } from './call-repository'
import { type Choice, positionOf, type Rolled, rolledFields } from './report-repository'
import { CURSOR } from './rollup-repository'
import type { SeriesGroup } from './schema'
import type { Plan } from './spans'
import { callFields, type Grain, usageCursors, usageRecords, usageRollups, usageSpeeds } from './table'

const MAX_KEYS = 500

/** Single calls, with the columns by which a series can be split. */
export const callsOf = (reader: Reader, calls: Calls, group: SeriesGroup) => {
  const t = reader.of(usageRecords)
  // The outputs of events are long, so they are read only for groups that need them.
  const output =
    group === 'guardrail' || group === 'policy' || group === 'preference' ? t.output : sql<string | null>`null`
  const columns = { ...callFields(t), ttft_ms: t.ttft_ms, endpoint: t.endpoint, user_id: t.user_id, output }
  return reader.select(columns).from(t).where(calls)
}
export type Found = Awaited<ReturnType<typeof callsOf>>[number]

type Chosen = Choice & { model: string | undefined; group_by: SeriesGroup }

/** The buckets of a plan with the cursor position, as in the report, and those per key or skill. */
export async function rolledIn(db: Reader, choice: Chosen, { rolled }: Plan) {
  const [c, r] = [db.of(usageCursors), db.of(usageRollups)]
  const { owner, keyId = '', mode, model, skill, group_by } = choice
  const keys = group_by === 'key' ? [keyId, ...(await keysOf(db, owner, rolled[0]?.grain ?? 'day'))] : [keyId]
  const parts = rolled.map(({ grain, from, to }) =>
    db
      .select({ position: c.position, api_key: r.api_key, latency: r.latency, ...rolledFields(r) })
      .from(c)
      .leftJoin(
        r,
        and(
          ...[eq(r.owner, owner), eq(r.grain, grain), inArray(r.api_key, keys), gte(r.at, from), lt(r.at, to)],
          mode === undefined ? undefined : or(eq(r.mode, mode), eq(r.resolved_mode, mode)),
          model === undefined ? undefined : eq(r.model, model),
          group_by === 'skill' ? undefined : eq(r.skill, skill ?? ''),
        ),
      )
      .where(eq(c.name, CURSOR)),
  )
  const [first, ...more] = parts
  if (!first) return { position: await positionOf(db), rows: [] }
  const rows = await more.reduce((union, query) => union.unionAll(query) as unknown as typeof first, first)
  return {
    position: rows[0]?.position ?? 0,
    rows: rows.filter(({ at }) => at !== null) as (Rolled & { api_key: string })[],
  }
}

/** The keys for which an owner has sums, found one by one with the primary key. */
async function keysOf(db: Reader, owner: OwnerScope, grain: Grain): Promise<string[]> {
  const r = db.of(usageRollups)
  const keys: string[] = []
  for (let last = ''; keys.length < MAX_KEYS; ) {
    const [next] = await db
      .select({ key: r.api_key })
      .from(r)
      .where(and(eq(r.owner, owner), eq(r.grain, grain), gt(r.api_key, last)))
      .orderBy(asc(r.api_key))
      .limit(1)
    if (!next) break
    keys.push(next.key)
    last = next.key
  }
  return keys
}

/** Times to the first text by hour or day and mode. */
export async function speedsIn(db: Reader, owner: OwnerScope, { rolled }: Plan) {
  const s = db.of(usageSpeeds)
  const spans = rolled.map(({ grain, from, to }) => and(eq(s.grain, grain), gte(s.at, from), lt(s.at, to)))
  if (!spans.length) return []
  return db
    .select({ at: s.at, mode: s.mode, ttft: s.ttft })
    .from(s)
    .where(and(eq(s.owner, owner), ne(s.ttft, ''), or(...spans)))
}
