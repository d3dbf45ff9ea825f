import { and, desc, eq, gte, inArray, lt, type SQLWrapper, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { type CsvCell, csvFile, csvHeaders } from '../kernel/csv'
import { microToCents, plainCents } from '../kernel/money'
import type { Reader } from '../kernel/store'
import { addEncoded, type Counted, DAY_MS, HOUR_MS, noCalls, percentiles, WIDTHS } from './buckets'
import { chosen, slicesOf } from './requests'
import { type ExportFormat, type RequestFilters, UsageExportRow } from './schema'
import type { Span } from './spans'
import { callFields, type UsageRow, usageRecords, usageRollups } from './table'

const PAGE = 1_000

const COLUMNS = Object.keys(UsageExportRow.properties)

type Deps = Parameters<typeof slicesOf>[0]
type Input = { owner: OwnerScope; filters: Partial<RequestFilters>; span: Span; signal: AbortSignal }

const headersOf = (format: ExportFormat, type: string) => ({
  ...csvHeaders('usage'),
  'content-type': type,
  'content-disposition': `attachment; filename="usage.${format}"`,
})

/** Response headers of each export format. */
export const EXPORT_HEADERS: Record<ExportFormat, Record<string, string>> = {
  csv: csvHeaders('usage'),
  json: headersOf('json', 'application/json'),
  jsonl: headersOf('jsonl', 'application/jsonl'),
}

type ExportRow = Counted & Pick<UsageRow, 'request_id' | 'endpoint'>

const toRow = (row: ExportRow): UsageExportRow => ({
  timestamp: iso(row.at),
  request_id: row.request_id,
  api_key_id: row.api_key_id,
  endpoint: row.endpoint,
  mode: row.mode,
  resolved_mode: row.resolved_mode,
  model: row.model,
  status: row.status,
  prompt_tokens: row.prompt_tokens,
  completion_tokens: row.completion_tokens,
  total_tokens: row.prompt_tokens + row.completion_tokens,
  cost_cents: microToCents(row.cost_micro),
  cached: row.cached,
  latency_ms: row.latency_ms,
})

const toCells = (row: ExportRow): CsvCell[] =>
  Object.values({ ...toRow(row), cost_cents: plainCents(row.cost_micro) } satisfies Record<string, CsvCell>)

const SLOT_MS = WIDTHS.slot
const MAX_OWNERS = 3

const sumOf = (column: typeof usageRollups.sqlite.requests) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number)

/** For operators: the cost of all calls of this UTC day by owner, and the last hour by mode compared to a day ago. */
export async function usageOfAllOwners(reader: Reader, now: number) {
  const t = reader.of(usageRollups)
  const whole = and(eq(t.api_key, ''), eq(t.skill, ''))
  const ofToday = and(whole, eq(t.grain, 'day'), eq(t.at, now - (now % DAY_MS)))
  const [day] = await reader
    .select({ cost: sumOf(t.cost_micro), total: sumOf(t.requests), cached: sumOf(t.cached) })
    .from(t)
    .where(ofToday)
  const owners = await reader
    .select({ owner: t.owner, cost: sumOf(t.cost_micro) })
    .from(t)
    .where(ofToday)
    .groupBy(t.owner)
    .orderBy(desc(sumOf(t.cost_micro)))
    .limit(MAX_OWNERS)
  const slotsFrom = (from: number, to: number) =>
    reader
      .select()
      .from(t)
      .where(and(whole, eq(t.grain, 'slot'), gte(t.at, from), lt(t.at, to)))
  const slots = await slotsFrom(now - HOUR_MS, now)
  // The last complete slot, and the same slot of yesterday.
  const to = now - (now % SLOT_MS)
  const before = await slotsFrom(to - SLOT_MS - DAY_MS, to - DAY_MS)
  const { cost, total, cached } = day!
  return {
    cost_cents: microToCents(cost),
    cache_rate: total ? cached / total : 0,
    /** Estimated cost of the cached answers, if each had cost as much as the average uncached one. */
    saved_cents: total > cached ? microToCents(Math.round((cost / (total - cached)) * cached)) : 0,
    /** Cache rate of each slot of the last hour, oldest first. */
    cached: Array.from({ length: HOUR_MS / SLOT_MS }, (_, at) => {
      const rows = slots.filter((slot) => slot.at === to - HOUR_MS + (at + 1) * SLOT_MS)
      const total = rows.reduce((sum, { requests }) => sum + requests, 0)
      return total ? rows.reduce((sum, { cached }) => sum + cached, 0) / total : 0
    }),
    /** The owners who spent most. */
    owners: owners.map(({ owner, cost }) => ({ owner, cost_cents: microToCents(cost) })),
    modes: byMode(slots),
    slot: { now: sumsOf(slots.filter(({ at }) => at === to - SLOT_MS)), day_ago: sumsOf(before) },
  }
}

/** For operators: the cost in cents, on this UTC day, of the owners that a query finds. */
export async function costOfDay(reader: Reader, now: number, owners: SQLWrapper): Promise<number> {
  const t = reader.of(usageRollups)
  const ofToday = and(eq(t.api_key, ''), eq(t.skill, ''), eq(t.grain, 'day'), eq(t.at, now - (now % DAY_MS)))
  const [sum] = await reader
    .select({ cost: sumOf(t.cost_micro) })
    .from(t)
    .where(and(ofToday, inArray(t.owner, owners)))
  return microToCents(sum!.cost)
}

type Slot = typeof usageRollups.sqlite.$inferSelect

function byMode(slots: readonly Slot[]) {
  const groups = Map.groupBy(slots, ({ mode, resolved_mode }) => resolved_mode || mode || 'other')
  return [...groups]
    .map(([mode, rows]) => {
      const { requests, ...sums } = sumsOf(rows)
      return { mode, per_minute: requests / 60, ...sums }
    })
    .sort((a, b) => b.per_minute - a.per_minute)
    .slice(0, 8)
}

function sumsOf(rows: readonly Slot[]) {
  const latency = noCalls()
  for (const row of rows) addEncoded(latency, row.latency)
  const requests = rows.reduce((sum, row) => sum + row.requests, 0)
  const errors = rows.reduce((sum, row) => sum + row.client_errors + row.server_errors, 0)
  // A call rejected before it was counted is an error but not a request.
  const attempts = rows.reduce((sum, row) => sum + row.refused, requests)
  const [p50, p95] = percentiles(latency, [0.5, 0.95])
  return {
    requests,
    p50: p50 || null,
    p95: p95 || null,
    error_rate: attempts ? errors / attempts : 0,
    cost_cents: microToCents(rows.reduce((sum, row) => sum + row.cost_micro, 0)),
  }
}

/** The calls, newest first, as pieces of the requested format (docs/api.md 18.1). */
export function piecesOf(
  deps: Deps,
  input: Input & { format: ExportFormat; requestId: string },
): AsyncGenerator<string> {
  if (input.format === 'json') return asJson(deps, input, input.requestId)
  return input.format === 'jsonl' ? asJsonLines(deps, input) : csvFile(COLUMNS, cellPages(deps, input))
}

/** One JSON object, whose rows are streamed a page at a time. */
async function* asJson(deps: Deps, input: Input, requestId: string): AsyncGenerator<string> {
  yield `{"request_id":${JSON.stringify(requestId)},"rows":[`
  let between = ''
  for await (const page of pages(deps, input)) {
    yield between + page.map((row) => JSON.stringify(toRow(row))).join(',')
    between = ','
  }
  yield ']}'
}

async function* asJsonLines(deps: Deps, input: Input): AsyncGenerator<string> {
  for await (const page of pages(deps, input)) yield page.map((row) => `${JSON.stringify(toRow(row))}\n`).join('')
}

async function* cellPages(deps: Deps, input: Input): AsyncGenerator<CsvCell[][]> {
  for await (const page of pages(deps, input)) yield page.map(toCells)
}

/** Reads slice by slice, so that no transaction stays open during a slow download, and other work gets its turn. */
async function* pages(deps: Deps, { owner, filters, span, signal }: Input): AsyncGenerator<ExportRow[]> {
  const t = deps.reader.of(usageRecords)
  const before = { from: span.from, to: span.to - 1 }
  for await (const { calls } of slicesOf(deps, { signal }, owner, before, Number.POSITIVE_INFINITY)) {
    const found = await deps.reader
      .select({ ...callFields(t), request_id: t.request_id, endpoint: t.endpoint })
      .from(t)
      .where(and(calls, ...chosen(deps.reader, filters)))
      .orderBy(desc(t.at), desc(t.id))
    for (let from = 0; from < found.length; from += PAGE) yield found.slice(from, from + PAGE)
  }
}
