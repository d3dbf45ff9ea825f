import { and, asc, desc, eq, exists, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import type { Counted } from './buckets'
import { CURSOR } from './rollup-repository'
import type { Plan, Span } from './spans'
import { type RollupRow, type UsageRow, usageCursors, usageRecords, usageRollups, usageSkills } from './table'

/** Whose calls, and which of them. `mode` is what was asked for or what it became. */
export type Choice = {
  owner: OwnerScope
  keyId?: string | undefined
  mode?: string | undefined
  skill?: string | undefined
  /** False where only sums are wanted: histograms are most of the reading. */
  withLatency?: boolean
}

/** A bucket as it is stored, without whose it is. */
export type Rolled = Omit<RollupRow, 'owner' | 'grain' | 'api_key'>

/**
 * The buckets of a plan and how far they have come, in one statement: whatever is rolled afterwards, these
 * and the calls after `position` are all calls, each once.
 */
export async function rolledIn(
  db: Reader,
  choice: Choice,
  plan: Plan,
): Promise<{ position: number; buckets: Rolled[] }> {
  const [c, r] = [db.of(usageCursors), db.of(usageRollups)]
  const spans = plan.rolled.map(({ grain, from, to }) => and(eq(r.grain, grain), gte(r.at, from), lt(r.at, to)))
  const rows = await db
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
      latency: r.latency,
    })
    .from(c)
    .leftJoin(
      r,
      and(
        eq(r.owner, choice.owner),
        eq(r.api_key, choice.keyId ?? ''),
        choice.skill === undefined ? undefined : eq(r.skill, choice.skill),
        choice.mode === undefined ? undefined : or(eq(r.mode, choice.mode), eq(r.resolved_mode, choice.mode)),
        spans.length ? or(...spans) : sql`1 = 0`,
      ),
    )
    .where(eq(c.name, CURSOR))
  const buckets = rows.filter(({ at }) => at !== null) as unknown as Rolled[]
  return { position: rows[0]?.position ?? 0, buckets }
}

const counted = (t: typeof usageRecords.sqlite) => ({
  id: t.id,
  owner: t.owner,
  at: t.at,
  api_key_id: t.api_key_id,
  mode: t.mode,
  resolved_mode: t.resolved_mode,
  model: t.model,
  status: t.status,
  prompt_tokens: t.prompt_tokens,
  completion_tokens: t.completion_tokens,
  cost_micro: t.cost_micro,
  cached: t.cached,
  latency_ms: t.latency_ms,
})

/** Calls of a span that the rollups know, oldest first, from just after a mark. */
export async function callsIn(
  db: Reader,
  choice: Choice,
  { from, to, upTo, after, limit }: Span & { upTo: number; after: Mark | null; limit: number },
): Promise<Counted[]> {
  const t = db.of(usageRecords)
  const start = after ?? { at: from, id: 0 }
  return db
    .select(counted(t))
    .from(t)
    .where(
      and(
        eq(t.owner, choice.owner),
        gte(t.at, start.at),
        lt(t.at, to),
        or(gt(t.at, start.at), gt(t.id, start.id)),
        lte(t.id, upTo),
        ...chosen(db, choice),
      ),
    )
    .orderBy(asc(t.at), asc(t.id))
    .limit(limit)
}

/** Calls that are not rolled yet, in a window of ids. */
export async function callsAfter(
  db: Reader,
  choice: Choice,
  { from, to, above, upTo }: Span & { above: number; upTo: number },
): Promise<Counted[]> {
  const t = db.of(usageRecords)
  return db
    .select(counted(t))
    .from(t)
    .where(
      and(
        gt(t.id, above),
        lte(t.id, upTo),
        // Not the column itself: the window of ids is short, and the index of owners would lead away from it.
        sql`${t.owner} || '' = ${choice.owner}`,
        sql`${t.at} + 0 >= ${from}`,
        sql`${t.at} + 0 < ${to}`,
        ...chosen(db, choice),
      ),
    )
}

export type Mark = { at: number; id: number }
export type ExportRow = Pick<UsageRow, keyof Counted | 'request_id' | 'endpoint'>

/** Calls of a span, newest first, from just before a mark: a page of an export. */
export async function exportPage(
  db: Reader,
  choice: Choice,
  { from, to, before, limit }: Span & { before: Mark | null; limit: number },
): Promise<ExportRow[]> {
  const t = db.of(usageRecords)
  const last = before ?? { at: to, id: 0 }
  return db
    .select({ ...counted(t), request_id: t.request_id, endpoint: t.endpoint })
    .from(t)
    .where(
      and(
        eq(t.owner, choice.owner),
        gte(t.at, from),
        lte(t.at, last.at),
        or(lt(t.at, last.at), lt(t.id, last.id)),
        ...chosen(db, choice),
      ),
    )
    .orderBy(desc(t.at), desc(t.id))
    .limit(limit)
}

function chosen(db: Reader, { keyId, mode, skill }: Choice): (SQL | undefined)[] {
  const [t, s] = [db.of(usageRecords), db.of(usageSkills)]
  return [
    keyId === undefined ? undefined : eq(t.api_key_id, keyId as never),
    mode === undefined ? undefined : or(eq(t.mode, mode), eq(t.resolved_mode, mode)),
    skill === undefined
      ? undefined
      : exists(
          db
            .select({ one: sql`1` })
            .from(s)
            .where(and(eq(s.record_id, t.id), eq(s.skill, skill))),
        ),
  ]
}
