import { and, eq, gte, lt, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import { CURSOR } from './rollup-repository'
import type { Plan, Span } from './spans'
import { type Grain, type RollupRow, usageCursors, usageRollups } from './table'

/** Which calls to report. `mode` matches the requested mode and the resolved one. */
export type Choice = {
  owner: OwnerScope
  keyId?: string | undefined
  mode?: string | undefined
  skill?: string | undefined
  /** Only totals and days are wanted: no latencies, modes, models or skills. */
  brief?: boolean
}

/** A stored bucket without its owner; or the sum of all buckets of a skill, whose mode and model are empty. */
export type Rolled = Omit<RollupRow, 'owner' | 'grain' | 'api_key'>
type Part = Span & { grain: Grain }

/**
 * The buckets of a plan and the cursor position in one statement, so that these buckets and the calls after
 * `position` are together all calls, each counted once. Each part of the plan is its own select in a UNION: every
 * one is a range of the primary key, while an OR over them would use no index.
 */
export async function rolledIn(
  db: Reader,
  choice: Choice,
  { rolled }: Plan,
): Promise<{ position: number; buckets: Rolled[] }> {
  const parts = rolled.map((part) => bucketsOf(db, choice, part))
  const ofSkills = choice.brief || choice.skill !== undefined ? [] : rolled.map((part) => skillsOf(db, choice, part))
  // The columns are the same; only the types differ by table.
  const [first, ...more] = [...parts, ...(ofSkills as unknown as typeof parts)]
  if (!first) return { position: await positionOf(db), buckets: [] }
  const rows = await more.reduce((union, query) => union.unionAll(query) as typeof first, first)
  return { position: rows[0]?.position ?? 0, buckets: rows.filter(({ at }) => at !== null) as Rolled[] }
}

async function positionOf(db: Reader): Promise<number> {
  const c = db.of(usageCursors)
  const [row] = await db.select({ position: c.position }).from(c).where(eq(c.name, CURSOR))
  return row?.position ?? 0
}

/** The buckets of one part. Left join from the cursor: without buckets there is still one row, with the position. */
function bucketsOf(db: Reader, choice: Choice, part: Part) {
  const [c, r] = [db.of(usageCursors), db.of(usageRollups)]
  return db
    .select({
      position: c.position,
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

const within = (r: typeof usageRollups.sqlite, { owner, keyId, mode }: Choice, { grain, from, to }: Part) => [
  eq(r.owner, owner),
  eq(r.grain, grain),
  eq(r.api_key, keyId ?? ''),
  gte(r.at, from),
  lt(r.at, to),
  mode === undefined ? undefined : or(eq(r.mode, mode), eq(r.resolved_mode, mode)),
]
