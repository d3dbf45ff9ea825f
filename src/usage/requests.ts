import { and, desc, eq, gte, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { defineError, notFound } from '../kernel/errors'
import { listBy } from '../kernel/keyset'
import { nextTurn } from '../kernel/loop'
import { centsToMicro, microToCents } from '../kernel/money'
import { decodeCursor, encodeCursor, type Page, toPage } from '../kernel/page'
import type { Reader } from '../kernel/store'
import { bodyOf, sizesOf } from './bodies'
import { DAY_MS } from './buckets'
import { usesSkill } from './call-repository'
import {
  EXPORT_DAYS,
  type KeptTool,
  METADATA,
  type RequestDetail,
  type RequestFilters,
  type RequestQuery,
  type RequestRow,
} from './schema'
import { SLICE, type Span } from './spans'
import { callFields, speedFields, usageRecords } from './table'

type VisibleSpan = { owner: OwnerScope; span: Span }
type Deps = { reader: Reader; clock: Clock }
type Names = { namesOf(reader: Reader, group: 'key', ids: readonly string[]): Promise<Map<string, string>> }
/** The amount held under a ledger reference, in micro-cents. Undefined if unknown. */
export type ReadHeldAmount = (reader: Reader, reference: string) => Promise<number | undefined>

/** Time limit for the search of one request, because a filter with few matches reads many calls. */
const LIST_MS = 150
const FIND_MS = 2_000
/** A page usually ends within it. The entries of a slice are read from the index before its calls. */
const FIRST_SLICE = 200
const MAX_COUNTED = 10_000
/** Filter value of guardrails: any guardrail fired. */
const ANY = '*'

const stillSearching = defineError(
  'service_unavailable',
  () =>
    `No request with this id was found in ${FIND_MS / 1_000} s, and older calls were not looked at. List the calls of its day with "from", "to" and "q".`,
)

/**
 * The calls of an owner, newest first. A key sees its own. A page can be short or empty and still have a cursor,
 * because one request searches for a fraction of a second only. Throws 400 for a cursor of another list.
 */
export async function listRequests(
  deps: Deps & Names,
  call: Call<Caller>,
  { owner, span }: VisibleSpan,
  query: RequestQuery,
): Promise<Page<RequestRow>> {
  const t = deps.reader.of(usageRecords)
  const list = listBy(t.at)
  const after = decodeCursor(list, query.cursor)
  const filters = chosen(deps.reader, seenAs(call, query))
  if (after) filters.push(or(lt(t.at, after.at), lt(t.id, Number(after.id))))
  const rows: Found[] = []
  let end = span.from
  for await (const slice of slicesOf(deps, call, owner, { from: span.from, to: after?.at ?? span.to }, LIST_MS)) {
    const wanted = query.limit + 1 - rows.length
    rows.push(
      ...(await read(deps.reader)
        .where(and(slice.calls, ...filters))
        .orderBy(desc(t.at), desc(t.id))
        .limit(wanted)),
    )
    end = slice.from
    if (rows.length > query.limit) break
  }
  const page = toPage(list, rows, query.limit, ({ at, id }) => ({ at, id: String(id) }))
  const next = page.next ?? (end > span.from ? encodeCursor(list, { at: end, id: '0' }) : null)
  return { items: await present(deps, owner, page.items), next }
}

/** The number of calls that pass the filters: at most 10,000, and at most those found in a fraction of a second. */
export async function countRequests(deps: Deps, call: Call, { owner, span }: VisibleSpan, query: RequestFilters) {
  const filters = chosen(deps.reader, seenAs(call, query))
  const t = deps.reader.of(usageRecords)
  let count = 0
  let end = span.to
  for await (const slice of slicesOf(deps, call, owner, span, LIST_MS)) {
    const [found] = await deps.reader
      .select({ calls: sql<number>`count(*)` })
      .from(t)
      .where(and(slice.calls, ...filters))
    count += Number(found?.calls ?? 0)
    end = slice.from
    if (count >= MAX_COUNTED) break
  }
  return { count: Math.min(count, MAX_COUNTED), capped: end > span.from }
}

/**
 * One call by its request id, with a breakdown of its time. Throws 404 when the caller has no such call, and 503 when
 * too many calls would have to be searched.
 */
export async function findRequest(
  { heldUnder, ...deps }: Deps & Names & { heldUnder: ReadHeldAmount },
  call: Call,
  { owner, span }: VisibleSpan,
  id: string,
) {
  // Postgres rejects text with NUL, even in a search.
  if (id.includes('\0')) throw notFound('request')
  const filters = chosen(deps.reader, seenAs(call, {}))
  let end = span.from
  for await (const slice of slicesOf(deps, call, owner, span, FIND_MS)) {
    const [row] = await read(deps.reader)
      .where(and(slice.calls, eq(deps.reader.of(usageRecords).request_id, id), ...filters))
      .limit(1)
    if (row) {
      const kept = await bodyOf(deps.reader, owner, id, deps.clock.now())
      const bodies: RequestDetail['bodies'] = kept
        ? {
            ...{ kept: true, until: iso(kept.expires_at), request: JSON.parse(kept.request), response: kept.response },
            tools: JSON.parse(kept.tools ?? '[]'),
          }
        : { kept: false, until: null }
      const held = row.ledger_ref === null ? undefined : await heldUnder(deps.reader, row.ledger_ref)
      const [request] = await present(deps, owner, [row])
      return {
        ...{ object: 'request' as const, request: request!, steps: stepsOf(row, bodies.tools), ...decidedIn(row) },
        money: {
          held_cents: held === undefined ? null : microToCents(held),
          charged_cents: microToCents(row.cost_micro),
          released_cents: held === undefined ? null : microToCents(held - row.cost_micro),
          reference: row.ledger_ref,
        },
        bodies,
      }
    }
    end = slice.from
  }
  throw end > span.from ? stillSearching() : notFound('request')
}

/**
 * The calls of an owner in slices, newest first, until `forMs` have passed or the caller has disconnected. The first
 * slice is small, the others are a few thousand. Other work gets a turn between slices, because SQLite runs on this
 * thread.
 */
export async function* slicesOf(
  { reader, clock }: Deps,
  { signal }: Pick<Call, 'signal'>,
  owner: OwnerScope,
  { from, to }: Span,
  forMs: number,
) {
  const t = reader.of(usageRecords)
  const endsAt = clock.monotonic() + forMs
  for (let [high, calls] = [to, FIRST_SLICE]; high >= from && !signal.aborted; calls = SLICE) {
    const [oldest] = await reader
      .select({ at: t.at })
      .from(t)
      .where(and(eq(t.owner, owner), gte(t.at, from), lte(t.at, high)))
      .orderBy(desc(t.at))
      .limit(1)
      .offset(calls)
    const low = oldest?.at ?? from
    yield { from: low, calls: and(eq(t.owner, owner), gte(t.at, low), lte(t.at, high)) }
    if (clock.monotonic() >= endsAt) return
    high = low - 1
    await nextTurn()
  }
}

const read = (reader: Reader) => {
  const t = reader.of(usageRecords)
  const columns = { ...callFields(t), ...speedFields(t), request_id: t.request_id, endpoint: t.endpoint }
  return reader
    .select({
      ...columns,
      ...{ user_id: t.user_id, input: t.input, output: t.output, entity_id: t.entity_id, ledger_ref: t.ledger_ref },
    })
    .from(t)
    .$dynamic()
}
type Found = Awaited<ReturnType<typeof read>>[number]

/** The outcome in the audit event of a call. Empty without an event. */
export const outcomeOf = ({ output }: Pick<Found, 'output'>): Outcome => (output === null ? {} : JSON.parse(output))
type Outcome = {
  error_code?: string
  guardrails?: { guardrail_id: string; phase: string; verdict: string; detail: string }[]
  guardrail_policy_id?: string
  tools_used?: string[]
  conversation_id?: string
  routing?: { source: string; confidence: number | null; reasoning: string | null; preference_id: string | null }
  routing_warnings?: string[]
}

/** The routing, guardrails and tools of a call, from its audit event. */
function decidedIn(row: Found) {
  const { routing, routing_warnings: skipped = [], guardrails = [], tools_used: tools = [], ...more } = outcomeOf(row)
  return {
    completion_id: row.entity_id,
    routing: routing ? { ...routing, skipped } : null,
    ...{ guardrails, tools },
    guardrail_policy_id: more.guardrail_policy_id ?? null,
  }
}

async function present(
  { reader, clock, namesOf }: Deps & Names,
  owner: OwnerScope,
  rows: readonly Found[],
): Promise<RequestRow[]> {
  const keys = [...new Set(rows.flatMap(({ api_key_id }) => api_key_id ?? []))]
  const names = await namesOf(reader, 'key', keys)
  const now = clock.now()
  const ids = rows.map(({ request_id }) => request_id)
  const sizes = new Map((await sizesOf(reader, owner, ids, now)).map((size) => [size.request_id, size]))
  return rows.map((row) => {
    const outcome = outcomeOf(row)
    const sent = row.input === null ? {} : JSON.parse(row.input)
    const size = sizes.get(row.request_id)
    return {
      request_id: row.request_id,
      timestamp: iso(row.at),
      endpoint: row.endpoint,
      // Work without its own event was started by a POST.
      method: sent.method ?? 'POST',
      status: row.status,
      code: outcome.error_code ?? null,
      mode: row.mode,
      resolved_mode: row.resolved_mode,
      model: row.model,
      api_key_id: row.api_key_id,
      api_key_name: names.get(row.api_key_id ?? '') ?? null,
      user_id: row.user_id,
      prompt_tokens: row.prompt_tokens,
      completion_tokens: row.completion_tokens,
      cost_cents: microToCents(row.cost_micro),
      cached: row.cached,
      stream: row.ttft_ms !== null,
      fallback: row.fallback_used,
      ttft_ms: row.ttft_ms,
      latency_ms: row.latency_ms,
      bytes_in: size?.bytes_in ?? null,
      bytes_out: size?.bytes_out ?? null,
      guardrails: outcome.guardrails?.length ?? 0,
      tools: outcome.tools_used?.length ?? 0,
      conversation_id: outcome.conversation_id ?? null,
      metadata: sent.metadata ?? null,
      has_trace: row.at >= now - EXPORT_DAYS * DAY_MS,
      has_bodies: size !== undefined,
    }
  })
}

/** The recorded phases of a call: choosing the mode, time to first text, and the rest of the answer. */
function stepsOf(
  { classified_us, ttft_ms, latency_ms, status, cached, model, resolved_mode }: Found,
  tools: readonly KeptTool[] = [],
) {
  const classified = classified_us === null ? 0 : Math.min(latency_ms, classified_us / 1_000)
  const first = Math.max(classified, ttft_ms ?? latency_ms)
  const outcome = status < 400 ? 'ok' : 'failed'
  const part = (kind: 'stage' | 'engine', name: string, at: number, ms: number, facts: Record<string, string | null>) =>
    ({ kind, name, at_ms: at, ms, outcome, facts }) as const
  const ran = tools.flatMap(({ name, status: ended, at_ms, ms, description }) =>
    at_ms === null || ms === null
      ? []
      : [
          {
            ...({ kind: 'tool', name, at_ms, ms, facts: { description } } as const),
            outcome: ended === 'error' ? ('failed' as const) : ('ok' as const),
          },
        ],
  )
  return [
    ...(classified_us === null ? [] : [part('stage', 'classify', 0, classified, { resolved_mode })]),
    part(cached ? 'stage' : 'engine', cached ? 'cache' : 'engine', classified, first - classified, { model }),
    ...ran,
    ...(ttft_ms === null ? [] : [part('stage', 'stream', first, Math.max(0, latency_ms - first), {})]),
  ]
}

/** A key sees only its own calls, whatever the query. */
const seenAs = ({ caller }: Call<Caller>, query: RequestFilters) =>
  caller.type === 'key' ? { ...query, key_id: caller.keyId } : query

/** Conditions for the calls that pass the filters. */
export function chosen(reader: Reader, query: Partial<RequestFilters>): (SQL | undefined)[] {
  const t = reader.of(usageRecords)
  const { key_id, status, mode, model, user_id, endpoint, cached, stream, fallback, min_ms, min_cost_cents, skill, q } =
    query
  const { code, guardrail, tool, conversation_id } = query
  // Summaries are canonical JSON, in which the tools come last.
  const says = (text: string, after = '') =>
    sql`lower(${t.output}) like ${`%${after}%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
  const isClass = status?.endsWith('xx')
  const first = Number(status?.[0]) * 100
  return [
    key_id === undefined ? undefined : eq(t.api_key_id, key_id as never),
    status === undefined
      ? undefined
      : isClass
        ? and(gte(t.status, first), lt(t.status, first + 100))
        : eq(t.status, Number(status)),
    mode === undefined ? undefined : or(eq(t.mode, mode), eq(t.resolved_mode, mode)),
    model === undefined ? undefined : eq(t.model, model),
    user_id === undefined ? undefined : eq(t.user_id, user_id as never),
    endpoint === undefined ? undefined : eq(t.endpoint, endpoint),
    cached === undefined ? undefined : eq(t.cached, cached),
    stream === undefined ? undefined : stream ? isNotNull(t.ttft_ms) : isNull(t.ttft_ms),
    fallback === undefined ? undefined : eq(t.fallback_used, fallback),
    min_ms === undefined ? undefined : gte(t.latency_ms, min_ms),
    min_cost_cents === undefined ? undefined : gte(t.cost_micro, centsToMicro(min_cost_cents)),
    code === undefined ? undefined : says(`"error_code":${JSON.stringify(code)}`),
    guardrail === undefined
      ? undefined
      : says(guardrail === ANY ? '"guardrail_id":' : `"guardrail_id":${JSON.stringify(guardrail)}`),
    tool === undefined ? undefined : says(JSON.stringify(tool), '"tools_used":['),
    conversation_id === undefined ? undefined : says(`"conversation_id":${JSON.stringify(conversation_id)}`),
    ...Object.entries(query).flatMap(([name, value]) =>
      name.startsWith(METADATA) ? [hasMember(reader, name.slice(METADATA.length), String(value))] : [],
    ),
    q === undefined ? undefined : and(gte(t.request_id, q), lt(t.request_id, `${q}~`)),
    skill === undefined ? undefined : usesSkill(reader, skill),
  ]
}

/** Calls whose `metadata` has this member, with this text or number. */
function hasMember(reader: Reader, name: string, value: string): SQL {
  const { input } = reader.of(usageRecords)
  // Neither database can express a path for such a name.
  if (/["\\\0]/.test(name)) return sql`1 = 0`
  return reader.dialect === 'sqlite'
    ? sql`cast(json_extract(${input}, ${`$.metadata.${JSON.stringify(name)}`}) as text) = ${value}`
    : sql`(${input})::jsonb #>> array['metadata', ${name}::text] = ${value}`
}
