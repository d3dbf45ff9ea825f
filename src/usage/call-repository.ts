import { and, asc, eq, exists, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../kernel/store'
import { type Counted, DAY_MS, type Sums } from './buckets'
import type { Choice } from './report-repository'
import type { SeriesGroup } from './schema'
import type { Span } from './spans'
import { callFields, usageRecords, usageSkills } from './table'

/** An SQL condition that selects usage records. */
export type Calls = SQL | undefined

/** Calls of a span that are already in the rollups, found by owner and time. */
export function rolledCalls(db: Reader, choice: Choice, { from, to, upTo }: Span & { upTo: number }): Calls {
  const t = db.of(usageRecords)
  return and(
    eq(t.owner, choice.owner),
    gte(t.at, from),
    lt(t.at, to),
    // `+ 0` prevents the planner from using the primary key, because most ids are below the bound.
    sql`${t.id} + 0 <= ${upTo}`,
    ...chosen(db, choice),
  )
}

/** Calls that are not rolled up yet, within a range of ids. */
export function newCalls(
  db: Reader,
  choice: Choice,
  { from, to, above, upTo }: Span & { above: number; upTo: number },
): Calls {
  const t = db.of(usageRecords)
  return and(
    gt(t.id, above),
    lte(t.id, upTo),
    // `|| ''` and `+ 0` prevent the planner from using the owner index, because the range of ids is much shorter.
    sql`${t.owner} || '' = ${choice.owner}`,
    sql`${t.at} + 0 >= ${from}`,
    sql`${t.at} + 0 < ${to}`,
    ...chosen(db, choice),
  )
}

/** The time of the call after the first `calls` of an owner in a span. Null when there are fewer. */
export async function momentAfter(
  db: Reader,
  { owner }: Choice,
  { from, to }: Span,
  calls: number,
): Promise<number | null> {
  const t = db.of(usageRecords)
  const rows = await db
    .select({ at: t.at })
    .from(t)
    .where(and(eq(t.owner, owner), gte(t.at, from), lt(t.at, to)))
    .orderBy(asc(t.at))
    .limit(1)
    .offset(calls)
  return rows[0]?.at ?? null
}

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

export type CallSums = Sums & Pick<Counted, 'at' | 'mode' | 'resolved_mode' | 'model'>

/** Sums by day, mode and model. `latencies` are those of answered calls, in ms, unordered. */
export async function sumsOf(db: Reader, calls: Calls): Promise<(CallSums & { latencies: number[] })[]> {
  const t = db.of(usageRecords)
  const words = { mode: t.mode, resolved_mode: t.resolved_mode, model: t.model }
  // Latency of an answered call. Null for a failed call, whose duration says nothing about answers.
  const rows = await db
    .select({
      day: whole(dayOf(t)),
      ...words,
      ...sums(t),
      latencies: listed(db, sql`CASE WHEN ${t.status} < 400 THEN ${t.latency_ms} END`),
    })
    .from(t)
    .where(calls)
    .groupBy(dayOf(t), t.mode, t.resolved_mode, t.model)
  return rows.map(({ day, latencies, ...row }) => ({
    ...row,
    at: day * DAY_MS,
    latencies: latencies === null ? [] : latencies.split(',').map(Number),
  }))
}

/** Sums by day alone, at a fraction of the cost. */
export async function daySumsOf(db: Reader, calls: Calls): Promise<CallSums[]> {
  const t = db.of(usageRecords)
  const rows = await db
    .select({ day: whole(dayOf(t)), ...sums(t) })
    .from(t)
    .where(calls)
    .groupBy(dayOf(t))
  return rows.map(({ day, ...row }) => ({ ...row, at: day * DAY_MS, mode: null, resolved_mode: null, model: null }))
}

/** `DAY_MS` as a literal. With a parameter Postgres would not accept the selected expression as the grouped one. */
const dayOf = (t: typeof usageRecords.sqlite) => sql`${t.at} / 86400000`

/** Concatenates the values of a group, because one text per group is cheaper than one row per call. */
const listed = (db: Reader, column: SQL) =>
  db.dialect === 'sqlite'
    ? sql<string | null>`group_concat(${column})`
    : sql<string | null>`string_agg((${column})::text, ',')`

/** Sums by skill, over calls that used skills. */
export async function skillSumsOf(db: Reader, calls: Calls): Promise<(Sums & { skill: string })[]> {
  const [t, s] = [db.of(usageRecords), db.of(usageSkills)]
  return db
    .select({ skill: s.skill, ...sums(t) })
    .from(t)
    .innerJoin(s, eq(s.record_id, t.id))
    .where(calls)
    .groupBy(s.skill)
}

/** A value that the driver may give as a text. */
export const whole = (value: SQL) => sql<number>`${value}`.mapWith(Number)

const sums = (t: typeof usageRecords.sqlite) => ({
  requests: whole(sql`count(*)`),
  prompt_tokens: whole(sql`sum(${t.prompt_tokens})`),
  completion_tokens: whole(sql`sum(${t.completion_tokens})`),
  cost_micro: whole(sql`sum(${t.cost_micro})`),
  cached: whole(sql`sum(CASE WHEN ${t.cached} THEN 1 ELSE 0 END)`),
  client_errors: whole(sql`sum(CASE WHEN ${t.status} BETWEEN 400 AND 499 THEN 1 ELSE 0 END)`),
  server_errors: whole(sql`sum(CASE WHEN ${t.status} >= 500 THEN 1 ELSE 0 END)`),
  refused: whole(sql`0`),
})

/** Calls that used a skill. */
export function usesSkill(db: Reader, skill: string): SQL {
  const [t, s] = [db.of(usageRecords), db.of(usageSkills)]
  const used = db.select({ one: sql`1` }).from(s)
  return exists(used.where(and(eq(s.record_id, t.id), eq(s.skill, skill))))
}

function chosen(db: Reader, { keyId, mode, skill }: Choice): Calls[] {
  const t = db.of(usageRecords)
  return [
    keyId === undefined ? undefined : eq(t.api_key_id, keyId as never),
    mode === undefined ? undefined : or(eq(t.mode, mode), eq(t.resolved_mode, mode)),
    skill === undefined ? undefined : usesSkill(db, skill),
  ]
}
