import { and, eq, gte, lte } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { nextTurn } from '../kernel/loop'
import type { Reader } from '../kernel/store'
import { finerThan, HOUR_MS, startOf, WIDTHS } from './buckets'
import { type Calls, momentAfter, newCalls, rolledCalls } from './call-repository'
import type { Choice } from './report-repository'
import { newestId, requestsOf } from './rollup-repository'
import { type Grain, usageRecords } from './table'

/** Number of calls read per slice. */
export const SLICE = 4_000

/** Yields to the event loop between two slices (docs/promises.md I28). */
export type Turn = () => Promise<void>

/** A call's usage and audit rows share a transaction but not the clock. Their times differ by less than this. */
const MAX_CLOCK_GAP_MS = 60_000

/** The requested mode, the resolved mode and the time of a call. Null when it has no record. */
export type ModeOfCall = { mode: string | null; resolved: string | null; at: number }

/** Half-open range of time, epoch ms. */
export type Span = { from: number; to: number }
type Part = Span & { grain: Grain }
type Cut = { rolled: Part[]; calls: Span[] }
/** A plan for reading a period: `rolled` from the rollups, `calls` (the ends of the period) from single records. */
export type Plan = Cut & { whole: Span; finest: Grain }
/** Such a plan where the calls in `less` are in `rolled`, but not in the period. */
export type SumPlan = Plan & { less: Span[] }

/**
 * Splits a period into whole buckets of the widest grain, then finer ones at both ends, until less than the finest
 * grain is left. `grains` are ordered from wide to fine. No call is later than `now`, so a period that reaches it is
 * extended to a whole hour.
 */
export function planOf({ from, to }: Span, now: number, grains: readonly Grain[]): Plan {
  const whole = { from, to: to > now ? startOf('hour', to + HOUR_MS - 1) : to }
  return { whole, finest: grains.at(-1)!, ...cut(whole, grains) }
}

function cut({ from, to }: Span, [grain, ...finer]: readonly Grain[]): Cut {
  if (from >= to) return { rolled: [], calls: [] }
  if (!grain) return { rolled: [], calls: [{ from, to }] }
  const inner = { from: startOf(grain, from + WIDTHS[grain] - 1), to: startOf(grain, to) }
  if (inner.from >= inner.to) return cut({ from, to }, finer)
  const before = cut({ from, to: inner.from }, finer)
  const after = cut({ from: inner.to, to }, finer)
  return {
    rolled: [...before.rolled, { grain, ...inner }, ...after.rolled],
    calls: [...before.calls, ...after.calls],
  }
}

/** Such a plan for one key or all, with the ends read from finer buckets where these have all calls. */
export async function sumPlanOf(db: Reader, { owner, keyId = '' }: Choice, plan: Plan): Promise<SumPlan> {
  const { finest } = plan
  const finer = finerThan(finest)
  const complete = new Set<number>()
  for (const at of new Set(plan.calls.flatMap(({ from, to }) => [startOf(finest, from), startOf(finest, to - 1)]))) {
    const found = await requestsOf(db, { owner, api_key: keyId, grain: finest, at }, finer)
    // Whether a bucket without calls will have finer ones is not known yet.
    if (found.its > 0 && found.its === found.finer) complete.add(at)
  }
  return withWholeEnds(plan, (at) => (complete.has(at) ? finer : finest))
}

/**
 * Reads the ends of a plan from buckets of the finest grain that `finestAt` names for the bucket they are in. What covers
 * more than half of such a bucket is replaced by the whole bucket without the rest of it, which has fewer calls to read.
 * For sums, from which the rest can be subtracted.
 */
export function withWholeEnds(plan: Plan, finestAt: (at: number) => Grain): SumPlan {
  const { rolled, calls, whole, finest } = plan
  const sums: SumPlan = { rolled: [...rolled], calls: [], less: [], whole, finest }
  for (const end of calls.flatMap((span) => split(span, finest))) {
    const grain = finestAt(startOf(finest, end.from))
    const inner = cut(end, grain === finest ? [] : [grain])
    sums.rolled.push(...inner.rolled)
    for (const part of inner.calls.flatMap((span) => split(span, grain))) {
      const from = startOf(grain, part.from)
      const to = from + WIDTHS[grain]
      if (part.to - part.from <= WIDTHS[grain] / 2) {
        sums.calls.push(part)
        continue
      }
      sums.rolled.push({ grain, from, to })
      sums.less.push(
        ...[
          { from, to: part.from },
          { from: part.to, to },
        ].filter((rest) => rest.from < rest.to),
      )
    }
  }
  return sums
}

/** An end in two buckets, with neither of them whole, as two. */
function split({ from, to }: Span, grain: Grain): Span[] {
  const edge = startOf(grain, from) + WIDTHS[grain]
  return edge < to
    ? [
        { from, to: edge },
        { from: edge, to },
      ]
    : [{ from, to }]
}

/** Finds the record by request id, searching around its approximate time. */
export async function modeOfCall(
  db: Reader,
  owner: OwnerScope,
  { requestId, at }: { requestId: string; at: number },
): Promise<ModeOfCall | null> {
  const table = db.of(usageRecords)
  const nearTime = and(gte(table.at, at - MAX_CLOCK_GAP_MS), lte(table.at, at + MAX_CLOCK_GAP_MS))
  const found = await db
    .select({ mode: table.mode, resolved: table.resolved_mode, at: table.at })
    .from(table)
    .where(and(eq(table.owner, owner), nearTime, eq(table.request_id, requestId)))
    .limit(1)
  return found[0] ?? null
}

/** Conditions for the calls of a span that are rolled up, slice by slice. */
export async function* endOf(
  db: Reader,
  choice: Choice,
  end: Span,
  upTo: number,
  turn: Turn = nextTurn,
): AsyncGenerator<Calls> {
  for (let from = end.from; from < end.to; ) {
    if (from > end.from) await turn()
    // A slice is at least one millisecond long, even if it has very many calls.
    const to = Math.max((await momentAfter(db, choice, { from, to: end.to }, SLICE)) ?? end.to, from + 1)
    yield rolledCalls(db, choice, { from, to, upTo })
    from = to
  }
}

/** Conditions for the calls of a span that are not rolled up yet, slice by slice. */
export async function* tailOf(
  db: Reader,
  choice: Choice,
  span: Span,
  position: number,
  turn: Turn = nextTurn,
): AsyncGenerator<Calls> {
  const newest = (await newestId(db, {}))[0]?.id ?? 0
  for (let above = position; above < newest; above += SLICE) {
    if (above > position) await turn()
    yield newCalls(db, choice, { ...span, above, upTo: Math.min(above + SLICE, newest) })
  }
}
