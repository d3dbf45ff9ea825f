import { and, eq } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { microToCents } from '../kernel/money'
import { isTimeZone } from '../kernel/schedule'
import type { Reader } from '../kernel/store'
import {
  addCall,
  addSums,
  cellOf,
  DAY_MS,
  emptySums,
  grainsOf,
  HOUR_MS,
  modeOf,
  ranksOf,
  type Sums,
  WIDTHS,
} from './buckets'
import { type Calls, callsOf, type Found } from './call-repository'
import { keysWithSums, rolledIn, speedsIn } from './report-repository'
import { chosen, outcomeOf, slicesOf } from './requests'
import { skillsOf } from './rollup-repository'
import type { Figures, Series, SeriesGroup, SeriesQuery, SeriesStep, SeriesTotals, UsageSeries } from './schema'
import { endOf, planOf, type Span, sumPlanOf, tailOf, withWholeEnds } from './spans'
import { type UsageRow, usageRecords } from './table'

const MAX_BUCKETS = 400
/** Time limit for reading single calls when no sums answer the query. Older values stay unknown. */
const WALK_MS = 200
const STEPS: Record<SeriesStep, number> = { '5m': HOUR_MS / 12, '1h': HOUR_MS, '1d': DAY_MS }
/** The groups for which sums are stored. Other groups are computed from single calls. */
const ROLLED_GROUPS: readonly SeriesGroup[] = ['none', 'mode', 'model', 'key', 'skill']
const ROLLED_FILTERS = new Set([
  'from',
  'to',
  'scope',
  'key_id',
  'mode',
  'model',
  'skill',
  'step',
  'timezone',
  'group_by',
  'top',
  'compare',
])
/** Name of the series of calls without a mode, model, key or skill. */
const UNNAMED = 'none'

export type SeriesDeps = {
  reader: Reader
  clock: Clock
  /** Micro-cents at today's prices. */
  costOf(engineId: string, used: { promptTokens: number; completionTokens: number }): number
  namesOf(reader: Reader, group: 'key' | 'user', ids: readonly string[]): Promise<Map<string, string>>
}
type SeriesInput = { owner: OwnerScope; span: Span; query: SeriesQuery; signal: AbortSignal }

/** The values of a series in one bucket. Latencies and times to first text are histogram cells or encoded ones. */
type Cell = {
  sums: Sums
  saved: number
  cells: number[]
  /** Of calls that the encoded ones have and the period has not. */
  less: number[]
  encoded: string[]
  first: number[]
  ttft: string[]
}
const emptyCell = (): Cell => ({
  ...{ sums: emptySums(), saved: 0, cells: [], less: [], encoded: [], first: [], ttft: [] },
})
type Saved = Pick<UsageRow, 'prompt_tokens' | 'completion_tokens'> & { model: string | null }

type Line = Map<number, Cell>

/**
 * Usage as one value per time bucket, for each of the largest series. Uses the rollups if they contain the sums. Other
 * queries read single calls for a fraction of a second, newest first, and older buckets are null. Throws 400 for more
 * than 400 buckets and for an unknown time zone.
 */
export async function readSeries(deps: SeriesDeps, { owner, span, query, signal }: SeriesInput): Promise<UsageSeries> {
  const { timezone = 'UTC', group_by, top } = query
  if (!isTimeZone(timezone)) throw invalidInput('timezone', '"timezone" is not an IANA name such as "Europe/Vienna".')
  const length = span.to - span.from
  const step = query.step ?? (length <= DAY_MS + 1 ? '5m' : length <= 14 * DAY_MS + 1 ? '1h' : '1d')
  if (length / STEPS[step] > MAX_BUCKETS) {
    throw invalidInput(
      'step',
      `Buckets of ${step} would be more than ${MAX_BUCKETS}. Use a wider step or a shorter period.`,
    )
  }
  const edges = edgesOf(span, step, timezone)
  const { lines, whole, knownFrom } = await collect(deps, { owner, span, query, signal }, edges)
  await nextTurn()
  const costOf = (line: Line) => [...line.values()].reduce((sum, { sums }) => sum + sums.cost_micro, 0)
  const countOf = (line: Line) => [...line.values()].reduce((sum, { sums }) => sum + sums.requests, 0)
  // A series whose calls were all subtracted has none.
  const used = [...lines].filter(([, line]) =>
    [...line.values()].some(({ sums }) => sums.requests || sums.client_errors),
  )
  const ranked = used.sort(([, a], [, b]) => costOf(b) - costOf(a) || countOf(b) - countOf(a))
  const [best, rest] = [ranked.slice(0, top), ranked.slice(top)]
  const names =
    group_by === 'key' || group_by === 'user'
      ? await deps.namesOf(
          deps.reader,
          group_by,
          best.map(([key]) => key).filter((key) => key !== UNNAMED),
        )
      : new Map<string, string>()
  const isKnown = edges.map((at) => at >= knownFrom)
  const shownAs = (key: string, label: string, line: Line) => ({ key, label, ...columnsOf(line, isKnown) })
  const series: Series[] = []
  for (const [key, line] of group_by === 'none' ? [['all', whole] as const] : best) {
    await nextTurn()
    series.push(shownAs(key, key === 'all' ? 'All' : (names.get(key) ?? key), line))
  }
  await nextTurn()
  const before = { from: span.from - length, to: span.from }
  return {
    period: { from: iso(span.from), to: iso(span.to) },
    step,
    timezone,
    buckets: edges.map(iso),
    known_from: iso(Math.max(knownFrom, span.from)),
    series,
    other:
      group_by === 'none' || rest.length === 0 ? null : shownAs('other', 'Other', merged(rest.map(([, line]) => line))),
    totals: totalsOf(whole),
    ...(query.compare && {
      previous_totals: totalsOf(
        (await collect(deps, { owner, span: before, query: { ...query, group_by: 'none' }, signal }, [before.from]))
          .whole,
      ),
    }),
  }
}

type Cost = { key: string; label: string; requests: number; cost_cents: number }

/** The cost of each key and each engine over a period, highest first. */
export async function costsOf(
  deps: SeriesDeps,
  owner: OwnerScope,
  span: Span,
): Promise<Record<'key' | 'model', Cost[]>> {
  const { signal } = new AbortController()
  const of = async (group_by: 'key' | 'model') => {
    const { lines } = await collect(deps, { owner, span, query: { group_by, top: 12 }, signal }, [span.from])
    const names = group_by === 'key' ? await deps.namesOf(deps.reader, 'key', [...lines.keys()]) : new Map()
    return [...lines]
      .map(([key, line]) => {
        const { requests, cost_cents } = totalsOf(line)
        return { key, label: names.get(key) ?? key, requests: requests ?? 0, cost_cents: cost_cents ?? 0 }
      })
      .sort((a, b) => b.cost_cents - a.cost_cents)
  }
  return { key: await of('key'), model: await of('model') }
}

/**
 * The start times of the buckets of a period. The first bucket starts at or before the period. Days start at midnight
 * of the time zone.
 */
function edgesOf({ from, to }: Span, step: SeriesStep, timezone: string): number[] {
  const edges: number[] = []
  if (step === '1d') {
    for (let at = midnight(from, timezone); at < to; at = midnight(at + 1.5 * DAY_MS, timezone)) edges.push(at)
    return edges
  }
  const width = STEPS[step]
  const offset = offsetOf(from, timezone)
  for (let at = Math.floor((from + offset) / width) * width - offset; at < to; at += width) edges.push(at)
  return edges
}

function midnight(at: number, timezone: string): number {
  const day = Math.floor((at + offsetOf(at, timezone)) / DAY_MS) * DAY_MS
  return day - offsetOf(day - offsetOf(at, timezone), timezone)
}

/** The offset of a time zone from UTC at a given time, in milliseconds. */
function offsetOf(at: number, timezone: string): number {
  if (timezone === 'UTC') return 0
  const local = new Date(at).toLocaleString('sv-SE', { timeZone: timezone })
  return Date.parse(`${local.replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

type Collected = { lines: Map<string, Line>; whole: Line; knownFrom: number }

async function collect(deps: SeriesDeps, input: SeriesInput, edges: readonly number[]): Promise<Collected> {
  const { reader, clock, costOf } = deps
  const { owner, span, query } = input
  const { group_by } = query
  const found: Collected = { lines: new Map(), whole: new Map(), knownFrom: edges[0]! }
  const cellIn = (line: Line, at: number) => {
    let [bucket, end] = [0, edges.length]
    while (end - bucket > 1) {
      const middle = (bucket + end) >> 1
      if (edges[middle]! <= at) bucket = middle
      else end = middle
    }
    return line.get(bucket) ?? line.set(bucket, emptyCell()).get(bucket)!
  }
  /** Estimated cost of the cached share of these calls. */
  const savedOf = (calls: Saved, share: number) =>
    share === 0 || !calls.model
      ? 0
      : costOf(calls.model, {
          promptTokens: calls.prompt_tokens * share,
          completionTokens: calls.completion_tokens * share,
        })
  const lineOf = (key: string) => found.lines.get(key) ?? found.lines.set(key, new Map()).get(key)!
  const addCalls = async (calls: Calls, sign = 1) => {
    const rows = await callsOf(reader, calls, group_by)
    const skills = group_by === 'skill' ? await skillsOf(reader, rows) : null
    for (const row of rows) {
      const keys = skills ? (skills.get(row.id) ?? []) : group_by === 'none' ? [] : keysOf(group_by, row)
      for (const cell of [found.whole, ...keys.map(lineOf)].map((line) => cellIn(line, row.at))) {
        addCall(cell.sums, row, sign)
        cell.saved += sign * savedOf(row, row.cached ? 1 : 0)
        if (row.status < 400) (sign > 0 ? cell.cells : cell.less).push(cellOf(row.latency_ms))
        if (row.ttft_ms !== null && sign > 0) cell.first.push(cellOf(row.ttft_ms))
      }
    }
  }
  const grains = grainsOf(group_by === 'key' ? 'some' : (query.key_id ?? '')).filter(
    (grain) => edges.length === 1 || edges.every((edge) => edge % WIDTHS[grain] === 0),
  )
  const isRolled =
    ROLLED_GROUPS.includes(group_by) &&
    grains.length > 0 &&
    !(group_by === 'skill' && query.skill !== undefined) &&
    Object.entries(query).every(([name, value]) => value === undefined || ROLLED_FILTERS.has(name))
  if (!isRolled) {
    const filters = chosen(reader, query)
    for await (const slice of slicesOf(deps, input, owner, { from: span.from, to: span.to - 1 }, WALK_MS)) {
      await addCalls(and(slice.calls, ...filters))
      found.knownFrom = slice.from
    }
    if (found.knownFrom <= span.from) found.knownFrom = edges[0]!
    return found
  }
  const choice = { owner, keyId: query.key_id, mode: query.mode, skill: query.skill }
  const plan = planOf(span, clock.now(), grains)
  const keys = group_by === 'key' ? await keysWithSums(reader, owner, plan.rolled[0]?.grain ?? 'day') : null
  const wanted = { ...choice, skill: query.skill ?? '', model: query.model, everySkill: group_by === 'skill' }
  // Several keys differ in which hours have slots.
  const exact = keys ? withWholeEnds(plan, () => plan.finest) : await sumPlanOf(reader, choice, plan)
  const { position, buckets } = await rolledIn(reader, { ...wanted, ...(keys && { keys }) }, exact)
  // Others' answers wait for no more than one of these steps (docs/promises.md I28).
  await nextTurn()
  for (const row of buckets) {
    const isWhole = row.skill === (query.skill ?? '') && (group_by !== 'key' || row.api_key === '')
    const its = group_by === 'skill' ? row.skill : group_by === 'key' ? row.api_key : keyOf(group_by, row)
    const lines = [...(isWhole ? [found.whole] : []), ...(group_by === 'none' || its === '' ? [] : [lineOf(its)])]
    for (const cell of lines.map((line) => cellIn(line, row.at))) {
      addSums(cell.sums, row)
      cell.saved += savedOf(row, row.requests ? row.cached / row.requests : 0)
      cell.encoded.push(row.latency)
    }
  }
  const model = query.model === undefined ? undefined : eq(reader.of(usageRecords).model, query.model)
  for (const end of exact.calls)
    for await (const calls of endOf(reader, choice, end, position)) await addCalls(and(calls, model))
  for (const rest of exact.less)
    for await (const calls of endOf(reader, choice, rest, position)) await addCalls(and(calls, model), -1)
  for await (const calls of tailOf(reader, choice, plan.whole, position)) await addCalls(and(calls, model))
  if (group_by === 'key') addKeyless(found)
  const hasSpeeds = [query.key_id, query.model, query.mode, query.skill].every((value) => value === undefined)
  if (hasSpeeds && grains[0] !== 'slot' && (group_by === 'none' || group_by === 'mode')) {
    await nextTurn()
    const { rows: speeds } = await speedsIn(reader, owner, plan)
    for (const { at, mode, ttft } of speeds.filter((one) => one.ttft !== '')) {
      cellIn(found.whole, at).ttft.push(ttft)
      if (group_by === 'mode') cellIn(lineOf(mode), at).ttft.push(ttft)
    }
    return found
  }
  // If the sums contain no times to first text, those of only the newest calls would be misleading.
  for (const line of [found.whole, ...found.lines.values()]) for (const cell of line.values()) cell.first = []
  return found
}

/** Adds the calls of sessions as a series: the totals minus those of all keys. Latencies are not stored separately. */
function addKeyless({ lines, whole }: Collected): void {
  lines.delete(UNNAMED)
  const line: Line = new Map()
  for (const [bucket, { sums, saved }] of whole) {
    const cell = { ...emptyCell(), sums: { ...sums }, saved }
    for (const other of [...lines.values()].flatMap((it) => it.get(bucket) ?? [])) {
      addSums(cell.sums, other.sums, -1)
      cell.saved -= other.saved
    }
    if (cell.sums.requests > 0) line.set(bucket, cell)
  }
  if (line.size) lines.set(UNNAMED, line)
}

type Named = Pick<Found, 'mode' | 'resolved_mode' | 'model'> &
  Partial<Pick<Found, 'api_key_id' | 'user_id' | 'endpoint' | 'status'>>

const keyOf = (group: SeriesGroup, row: Named): string => {
  if (group === 'mode') return modeOf(row)
  if (group === 'model') return row.model || UNNAMED
  if (group === 'key') return row.api_key_id ?? UNNAMED
  if (group === 'user') return row.user_id ?? UNNAMED
  return (group === 'endpoint' ? row.endpoint : String(row.status)) ?? UNNAMED
}

/** The series of a call. For guardrails and policies, one for each verdict that fired, and none without any. */
function keysOf(group: SeriesGroup, row: Found): string[] {
  if (group !== 'guardrail' && group !== 'policy' && group !== 'preference') return [keyOf(group, row)]
  const { guardrails = [], guardrail_policy_id, routing } = outcomeOf(row)
  if (group === 'preference') return routing?.preference_id ? [routing.preference_id] : []
  if (group === 'policy' && !guardrail_policy_id) return []
  return [
    ...new Set(
      guardrails.map(({ guardrail_id: id, verdict }) => `${group === 'policy' ? guardrail_policy_id : id}:${verdict}`),
    ),
  ]
}

function merged(lines: readonly Line[]): Line {
  const all: Line = new Map()
  for (const line of lines)
    for (const [bucket, cell] of line) {
      const into = all.get(bucket) ?? emptyCell()
      all.set(bucket, into)
      addCell(into, cell)
    }
  return all
}

function addCell(into: Cell, cell: Cell): void {
  addSums(into.sums, cell.sums)
  into.saved += cell.saved
  for (const name of ['cells', 'less', 'first'] as const) for (const one of cell[name]) into[name].push(one)
  for (const name of ['encoded', 'ttft'] as const) for (const one of cell[name]) into[name].push(one)
}

function columnsOf(line: Line, isKnown: readonly boolean[]) {
  const figures = isKnown.map((known, bucket) => figuresOf(known ? (line.get(bucket) ?? emptyCell()) : null))
  const names = Object.keys(figures[0]!) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, figures.map((it) => it[name])])) as {
    [Name in keyof Figures]: (number | null)[]
  }
}

const NAMES = [
  ...(['requests', 'cost_cents', 'total_tokens', 'errors', 'cache_hits', 'saved_cents'] as const),
  ...(['p50', 'p95', 'p99', 'ttft_p95'] as const),
]
const unknown = Object.fromEntries(NAMES.map((name) => [name, null])) as Figures

function figuresOf(cell: Cell | null): Figures {
  if (!cell) return unknown
  const { sums, saved } = cell
  const [p50 = null, p95 = null, p99 = null] = ranksOf(cell, [0.5, 0.95, 0.99])
  return {
    requests: sums.requests,
    cost_cents: microToCents(sums.cost_micro),
    total_tokens: sums.prompt_tokens + sums.completion_tokens,
    errors: sums.client_errors + sums.server_errors,
    cache_hits: sums.cached,
    saved_cents: microToCents(Math.max(saved, 0)),
    ...{ p50, p95, p99 },
    ttft_p95: ranksOf({ cells: cell.first, less: [], encoded: cell.ttft }, [0.95])[0] ?? null,
  }
}

function totalsOf(line: Line): SeriesTotals {
  const cell = emptyCell()
  for (const one of line.values()) addCell(cell, one)
  const { sums } = cell
  return {
    ...figuresOf(cell),
    ...{ prompt_tokens: sums.prompt_tokens, completion_tokens: sums.completion_tokens },
    ...{ errors_4xx: sums.client_errors, errors_5xx: sums.server_errors },
  }
}
