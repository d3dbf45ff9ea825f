import { and, asc, eq, getTableColumns, gt, gte, inArray, isNotNull, lt, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { utcDay } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import { addedOf, allOf, command, query, type Reader, type Tx } from '../kernel/store'
import {
  addEncoded,
  addSums,
  cellOf,
  emptySums,
  encode,
  type Histogram,
  modeOf,
  noCalls,
  percentiles,
  type Speed,
  SUMS,
  type Sums,
  type Timed,
} from './buckets'
import type { CallSums, Calls } from './call-repository'
import { CURSOR, rolledUpTo } from './rollup-repository'
import type { Breakdown } from './schema'
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

/** Keys of one series, at most. */
const MAX_KEYS = 500

const speedAt = query<Pick<SpeedRow, 'owner' | 'grain' | 'at' | 'mode'>>()((db, p) => {
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
    .values(allOf(t, p))
    .onConflictDoUpdate({
      target: [t.owner, t.grain, t.at, t.mode],
      set: { ttft: sql`excluded.ttft`, classified: sql`excluded.classified`, ...addedOf(t, ['failovers']) },
    })
})

type RolledSpeed = Omit<SpeedRow, 'owner' | 'grain'>

/** The calls to report. `mode` matches both the requested and the resolved mode. */
export type Choice = {
  owner: OwnerScope
  keyId?: string | undefined
  mode?: string | undefined
  skill?: string | undefined
  /** Only totals and days are needed: no latencies, modes, models or skills. */
  brief?: boolean
}

/** For a series: also the buckets of these keys, only those of a model, and those of every skill. */
type Wanted = Choice & { keys?: readonly string[]; model?: string | undefined; everySkill?: boolean }

/** A stored bucket without its owner, or the sum of all buckets of a skill, with empty key, mode and model. */
export type Rolled = Omit<RollupRow, 'owner' | 'grain'>
type Part = Span & { grain: Grain }

/**
 * Reads the buckets of a plan and the cursor position in one statement, so that these buckets and the calls after
 * `position` together contain each call exactly once. Each part of the plan is its own select in a UNION, because each
 * is a range of the primary key, while an OR over them would use no index.
 */
export async function rolledIn(
  db: Reader,
  choice: Wanted,
  { rolled }: Plan,
): Promise<{ position: number; buckets: Rolled[] }> {
  const parts = rolled.map((part) => bucketsOf(db, choice, part))
  const ofSkills = choice.brief || choice.skill !== undefined ? [] : rolled.map((part) => skillsOf(db, choice, part))
  // The columns are the same. Only the types differ by table.
  const [first, ...more] = [...parts, ...(ofSkills as unknown as typeof parts)]
  if (!first) return { position: await rolledUpTo(db), buckets: [] }
  const rows = await more.reduce((union, query) => union.unionAll(query) as typeof first, first)
  return { position: rows[0]?.position ?? 0, buckets: rows.filter(({ at }) => at !== null) as Rolled[] }
}

/** The keys for which an owner has sums, found one by one with the primary key. */
export async function keysWithSums(db: Reader, owner: OwnerScope, grain: Grain): Promise<string[]> {
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

const EMPTY = sql<string>`''`

/** In the order of the table, because the parts of a UNION are matched by position. */
function bucketColumns(r: typeof usageRollups.sqlite) {
  const { owner: _, grain: __, ...columns } = getTableColumns(r)
  return columns
}

/** The buckets of one part. Left join from the cursor, so that a row with the position exists even without buckets. */
function bucketsOf(db: Reader, choice: Wanted, part: Part) {
  const [c, r] = [db.of(usageCursors), db.of(usageRollups)]
  const ofSkill = choice.everySkill ? undefined : eq(r.skill, choice.skill ?? '')
  const ofModel = choice.model === undefined ? undefined : eq(r.model, choice.model)
  return db
    .select({ position: c.position, ...bucketColumns(r), latency: choice.brief ? EMPTY : r.latency })
    .from(c)
    .leftJoin(r, and(...within(r, choice, part), ofSkill, ofModel))
    .where(eq(c.name, CURSOR))
}

/** Sums of each skill within one part. */
function skillsOf(db: Reader, choice: Choice, part: Part) {
  const r = db.of(usageRollups)
  const sum = (column: unknown) => sql<number>`sum(${column})`
  return db
    .select({
      position: sql<number>`0`,
      ...bucketColumns(r),
      at: sql<number>`0`,
      ...{ api_key: EMPTY, mode: EMPTY, resolved_mode: EMPTY, model: EMPTY, latency: EMPTY },
      ...(Object.fromEntries(SUMS.map((name) => [name, sum(r[name])])) as Record<keyof Sums, ReturnType<typeof sum>>),
    })
    .from(r)
    .where(and(...within(r, choice, part), ne(r.skill, '')))
    .groupBy(r.skill)
}

const within = (
  r: typeof usageRollups.sqlite,
  { owner, keyId = '', keys, mode }: Wanted,
  { grain, from, to }: Part,
) => [
  eq(r.owner, owner),
  eq(r.grain, grain),
  keys ? inArray(r.api_key, [keyId, ...keys]) : eq(r.api_key, keyId),
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
  if (!rolled.length) return { position: await rolledUpTo(db), rows: [] }
  const [c, s] = [db.of(usageCursors), db.of(usageSpeeds)]
  const spans = rolled.map(({ grain, from, to }) => and(eq(s.grain, grain), gte(s.at, from), lt(s.at, to)))
  const values = { at: s.at, mode: s.mode, ttft: s.ttft, classified: s.classified, failovers: s.failovers }
  const found = await db
    .select({ position: c.position, ...values })
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

export type Tally = ReturnType<typeof createTally>

/** The name under which calls without a model are listed. */
const UNNAMED = 'none'

const tokensOf = (sums: Sums): number => sums.prompt_tokens + sums.completion_tokens

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** False for a name whose calls were all subtracted. */
const isUsed = ([, { requests }]: [string, Sums]): boolean => requests > 0

const toMap = (map: Map<string, Sums>) =>
  Object.fromEntries(
    [...map]
      .filter(isUsed)
      .sort(byName)
      .map(([name, { requests, cost_micro }]) => [name, { requests, cost_cents: microToCents(cost_micro) }]),
  )

/** Sums a report from buckets and calls. `only` is the skill the report is limited to, if any. */
export function createTally(only = '') {
  const total = emptySums()
  const latency = noCalls()
  const modes = new Map<string, Sums>()
  const models = new Map<string, Sums>()
  const skills = new Map<string, Sums>()
  const days = new Map<string, Sums>()

  const addSkill = (sums: Sums & { skill: string }, sign = 1) => addSums(sumsAt(skills, sums.skill), sums, sign)

  function add(sums: CallSums, sign = 1): void {
    if (only !== '') addSums(sumsAt(skills, only), sums, sign)
    addSums(total, sums, sign)
    // A bucket that contains only rejected calls does not count towards any mode, model or day.
    if (sums.requests === 0) return
    addSums(sumsAt(modes, modeOf(sums)), sums, sign)
    addSums(sumsAt(models, sums.model || UNNAMED), sums, sign)
    addSums(sumsAt(days, utcDay(sums.at)), sums, sign)
  }

  return {
    addSkill,
    addSums: add,

    /** Adds rejected calls that are not in any bucket yet. */
    addRefused(calls: number): void {
      total.client_errors += calls
      total.refused += calls
    },

    addLatency(ms: number, sign = 1): void {
      latency[cellOf(ms)]! += sign
    },

    addBucket(bucket: Rolled): void {
      if (bucket.skill !== only) {
        addSkill(bucket)
        return
      }
      add(bucket)
      addEncoded(latency, bucket.latency)
    },

    /** Micro-cents by UTC day. */
    costByDay: () => new Map([...days].map(([day, { cost_micro }]) => [day, cost_micro])),
    requests: () => total.requests,

    result(): Breakdown {
      const [p50, p95, p99] = percentiles(latency, [0.5, 0.95, 0.99]) as [number, number, number]
      const { requests, cached, client_errors, server_errors, refused } = total
      const misses = requests - cached - (client_errors + server_errors - refused)
      return {
        totals: {
          requests,
          prompt_tokens: total.prompt_tokens,
          completion_tokens: total.completion_tokens,
          total_tokens: tokensOf(total),
          cost_cents: microToCents(total.cost_micro),
        },
        by_mode: toMap(modes),
        by_model: toMap(models),
        by_skill: toMap(skills),
        by_day: [...days]
          .filter(isUsed)
          .sort(byName)
          .map(([date, sums]) => ({
            date,
            requests: sums.requests,
            total_tokens: tokensOf(sums),
            cost_cents: microToCents(sums.cost_micro),
          })),
        latency_ms: { p50, p95, p99 },
        cache: { hits: cached, misses, hit_rate: cached + misses > 0 ? cached / (cached + misses) : 0 },
        errors: { '4xx': client_errors, '5xx': server_errors },
      }
    },
  }
}

function sumsAt(map: Map<string, Sums>, name: string): Sums {
  let sums = map.get(name)
  if (!sums) {
    sums = emptySums()
    map.set(name, sums)
  }
  return sums
}
