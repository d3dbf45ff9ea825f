import { and, eq, gte, isNotNull, lt, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, query, type Reader, type Tx } from '../kernel/store'
import { addEncoded, encode, type Histogram, noCalls, type Speed, type Timed } from './buckets'
import type { Calls } from './call-repository'
import { CURSOR } from './rollup-repository'
import type { Plan, Span } from './spans'
import {
  type Grain,
  type RollupRow,
  type SpeedRow,
  speedFields,
  usageCursors,
  usageRecords,
  usageRollups,
  usageSpeeds,
} from './table'

type SpeedKey = Pick<SpeedRow, 'owner' | 'grain' | 'at' | 'mode'>

const speedAt = query<SpeedKey>()((db, p) => {
  const t = db.of(usageSpeeds)
  return db
    .select({ ttft: t.ttft, classified: t.classified })
    .from(t)
    .where(and(eq(t.owner, p.owner), eq(t.grain, p.grain), eq(t.at, p.at), eq(t.mode, p.mode)))
})

const putSpeed = command<SpeedRow>()((tx, p) => {
  const t = tx.of(usageSpeeds)
  return tx
    .insert(t)
    .values({
      owner: p.owner,
      grain: p.grain,
      at: p.at,
      mode: p.mode,
      ttft: p.ttft,
      classified: p.classified,
      failovers: p.failovers,
    })
    .onConflictDoUpdate({
      target: [t.owner, t.grain, t.at, t.mode],
      set: {
        ttft: sql`excluded.ttft`,
        classified: sql`excluded.classified`,
        failovers: sql`${t.failovers} + excluded.failovers`,
      },
    })
})

type RolledSpeed = Omit<SpeedRow, 'owner' | 'grain' | 'at'>

/** The calls to report. `mode` matches both the requested and the resolved mode. */
export type Choice = {
  owner: OwnerScope
  keyId?: string | undefined
  mode?: string | undefined
  skill?: string | undefined
  /** Only totals and days are needed: no latencies, modes, models or skills. */
  brief?: boolean
}

/** A stored bucket without its owner, or the sum of all buckets of a skill, with empty mode and model. */
export type Rolled = Omit<RollupRow, 'owner' | 'grain' | 'api_key'>
type Part = Span & { grain: Grain }

/**
 * Reads the buckets of a plan and the cursor position in one statement, so that these buckets and the calls after
 * `position` together contain each call exactly once. Each part of the plan is its own select in a UNION, because each
 * is a range of the primary key, while an OR over them would use no index.
 */
export async function rolledIn(
  db: Reader,
  choice: Choice,
  { rolled }: Plan,
): Promise<{ position: number; buckets: Rolled[] }> {
  const parts = rolled.map((part) => bucketsOf(db, choice, part))
  const ofSkills = choice.brief || choice.skill !== undefined ? [] : rolled.map((part) => skillsOf(db, choice, part))
  // The columns are the same. Only the types differ by table.
  const [first, ...more] = [...parts, ...(ofSkills as unknown as typeof parts)]
  if (!first) return { position: await positionOf(db), buckets: [] }
  const rows = await more.reduce((union, query) => union.unionAll(query) as typeof first, first)
  return { position: rows[0]?.position ?? 0, buckets: rows.filter(({ at }) => at !== null) as Rolled[] }
}

export async function positionOf(db: Reader): Promise<number> {
  const c = db.of(usageCursors)
  const [row] = await db.select({ position: c.position }).from(c).where(eq(c.name, CURSOR))
  return row?.position ?? 0
}

/** The buckets of one part. Left join from the cursor, so that a row with the position exists even without buckets. */
function bucketsOf(db: Reader, choice: Choice, part: Part) {
  const [c, r] = [db.of(usageCursors), db.of(usageRollups)]
  return db
    .select({
      position: c.position,
      ...rolledFields(r),
      latency: choice.brief ? sql<string>`''` : r.latency,
    })
    .from(c)
    .leftJoin(r, and(...within(r, choice, part), eq(r.skill, choice.skill ?? '')))
    .where(eq(c.name, CURSOR))
}

/** Sums of each skill within one part. */
function skillsOf(db: Reader, choice: Choice, part: Part) {
  const r = db.of(usageRollups)
  const sum = (column: unknown) => sql<number>`sum(${column})`
  return db
    .select({
      position: sql<number>`0`,
      at: sql<number>`0`,
      skill: r.skill,
      mode: sql<string>`''`,
      resolved_mode: sql<string>`''`,
      model: sql<string>`''`,
      requests: sum(r.requests),
      prompt_tokens: sum(r.prompt_tokens),
      completion_tokens: sum(r.completion_tokens),
      cost_micro: sum(r.cost_micro),
      cached: sum(r.cached),
      client_errors: sum(r.client_errors),
      server_errors: sum(r.server_errors),
      refused: sum(r.refused),
      latency: sql<string>`''`,
    })
    .from(r)
    .where(and(...within(r, choice, part), ne(r.skill, '')))
    .groupBy(r.skill)
}

/** The columns of a bucket, without its histogram. */
export const rolledFields = (r: typeof usageRollups.sqlite) => ({
  at: r.at,
  skill: r.skill,
  mode: r.mode,
  resolved_mode: r.resolved_mode,
  model: r.model,
  requests: r.requests,
  prompt_tokens: r.prompt_tokens,
  completion_tokens: r.completion_tokens,
  cost_micro: r.cost_micro,
  cached: r.cached,
  client_errors: r.client_errors,
  server_errors: r.server_errors,
  refused: r.refused,
})

const within = (r: typeof usageRollups.sqlite, { owner, keyId, mode }: Choice, { grain, from, to }: Part) => [
  eq(r.owner, owner),
  eq(r.grain, grain),
  eq(r.api_key, keyId ?? ''),
  gte(r.at, from),
  lt(r.at, to),
  mode === undefined ? undefined : or(eq(r.mode, mode), eq(r.resolved_mode, mode)),
]

/** Adds to the hourly and daily rows, in the transaction that moves the cursor past these records. */
export async function addSpeeds(tx: Tx, speeds: readonly Speed[]): Promise<void> {
  const scratch = noCalls()
  for (const { ttft, classified, ...rest } of speeds) {
    const [known] = await speedAt(tx, rest)
    await putSpeed(tx, {
      ...rest,
      ttft: merged(scratch, known?.ttft ?? '', ttft),
      classified: merged(scratch, known?.classified ?? '', classified),
    })
  }
}

function merged(scratch: Histogram, known: string, cells: readonly number[]): string {
  scratch.fill(0)
  addEncoded(scratch, known)
  for (const cell of cells) scratch[cell]! += 1
  return encode(scratch)
}

/** The rows of a plan, and the cursor position they were read at. */
export async function speedsIn(
  db: Reader,
  owner: OwnerScope,
  { rolled }: Plan,
): Promise<{ position: number; rows: RolledSpeed[] }> {
  const [c, s] = [db.of(usageCursors), db.of(usageSpeeds)]
  const spans = rolled.map(({ grain, from, to }) => and(eq(s.grain, grain), gte(s.at, from), lt(s.at, to)))
  const found = await db
    .select({ position: c.position, mode: s.mode, ttft: s.ttft, classified: s.classified, failovers: s.failovers })
    .from(c)
    .leftJoin(s, and(eq(s.owner, owner), or(...spans)))
    .where(eq(c.name, CURSOR))
  return {
    position: found[0]?.position ?? 0,
    rows: found.filter(({ mode }) => mode !== null) as RolledSpeed[],
  }
}

/** Calls with a value that benchmarks use. */
export function timedCalls(db: Reader, calls: Calls): Promise<Timed[]> {
  const t = db.of(usageRecords)
  const hasMeasurement = or(isNotNull(t.ttft_ms), isNotNull(t.classified_us), eq(t.fallback_used, true))
  return db
    .select({ owner: t.owner, at: t.at, mode: t.mode, resolved_mode: t.resolved_mode, ...speedFields(t) })
    .from(t)
    .where(and(calls, hasMeasurement)) as unknown as Promise<Timed[]>
}
