import { and, desc, eq, exists, gte, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { type Call, keyIdOf, type OwnerScope } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import { decodeCursor, type Page, toPage } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { RequestQuery, RequestRow } from './schema'
import type { Span } from './spans'
import { callFields, speedFields, usageRecords, usageSkills } from './table'

type Seen = { owner: OwnerScope; span: Span }

/** The calls of an owner, newest first; a key sees its own. Throws 400 for a cursor of another list. */
export async function listRequests(
  reader: Reader,
  { caller }: Call,
  { owner, span }: Seen,
  query: RequestQuery,
): Promise<Page<RequestRow>> {
  const t = reader.of(usageRecords)
  const after = decodeCursor(query.cursor)
  const rows = await read(reader)
    .where(
      and(
        eq(t.owner, owner),
        gte(t.at, span.from),
        lte(t.at, after?.at ?? span.to),
        after ? or(lt(t.at, after.at), lt(t.id, Number(after.id))) : undefined,
        ofKey(reader, keyIdOf(caller) ?? query.key_id),
        ...chosen(reader, query),
      ),
    )
    .orderBy(desc(t.at), desc(t.id))
    .limit(query.limit + 1)
  const page = toPage(rows, query.limit, ({ at, id }) => ({ at, id: String(id) }))
  return { ...page, items: page.items.map(present) }
}

/** One call by its request id, and how its time was spent. Throws 404 where the caller has none with this id. */
export async function findRequest(reader: Reader, { caller }: Call, { owner, span }: Seen, id: string) {
  const t = reader.of(usageRecords)
  const [row] = await read(reader)
    .where(
      and(eq(t.owner, owner), gte(t.at, span.from), eq(t.request_id, id), ofKey(reader, keyIdOf(caller) ?? undefined)),
    )
    .orderBy(desc(t.at))
    .limit(1)
  if (!row) throw notFound('request')
  return { object: 'request' as const, request: present(row), steps: stepsOf(row) }
}

const read = (reader: Reader) => {
  const t = reader.of(usageRecords)
  const columns = { ...callFields(t), ...speedFields(t), request_id: t.request_id, endpoint: t.endpoint }
  return reader
    .select({ ...columns, user_id: t.user_id })
    .from(t)
    .$dynamic()
}
type Found = Awaited<ReturnType<typeof read>>[number]

const present = (row: Found): RequestRow => ({
  request_id: row.request_id,
  timestamp: iso(row.at),
  endpoint: row.endpoint,
  status: row.status,
  mode: row.mode,
  resolved_mode: row.resolved_mode,
  model: row.model,
  api_key_id: row.api_key_id,
  user_id: row.user_id,
  prompt_tokens: row.prompt_tokens,
  completion_tokens: row.completion_tokens,
  cost_cents: microToCents(row.cost_micro),
  cached: row.cached,
  stream: row.ttft_ms !== null,
  fallback: row.fallback_used,
  ttft_ms: row.ttft_ms,
  latency_ms: row.latency_ms,
})

/** What the record tells of a call's time: choosing the mode, until the first text, and the rest of the answer. */
function stepsOf({ classified_us, ttft_ms, latency_ms, status, cached, model, resolved_mode }: Found) {
  const classified = classified_us === null ? 0 : Math.min(latency_ms, classified_us / 1_000)
  const first = Math.max(classified, ttft_ms ?? latency_ms)
  const outcome = status < 400 ? 'ok' : 'failed'
  const part = (kind: 'stage' | 'engine', name: string, at: number, ms: number, facts: Record<string, string | null>) =>
    ({ kind, name, at_ms: at, ms, outcome, facts }) as const
  return [
    ...(classified_us === null ? [] : [part('stage', 'classify', 0, classified, { resolved_mode })]),
    part(cached ? 'stage' : 'engine', cached ? 'cache' : 'engine', classified, first - classified, { model }),
    ...(ttft_ms === null ? [] : [part('stage', 'stream', first, Math.max(0, latency_ms - first), {})]),
  ]
}

const ofKey = (reader: Reader, keyId: string | undefined): SQL | undefined =>
  keyId === undefined ? undefined : eq(reader.of(usageRecords).api_key_id, keyId as never)

function chosen(reader: Reader, query: RequestQuery): (SQL | undefined)[] {
  const [t, s] = [reader.of(usageRecords), reader.of(usageSkills)]
  const { status, mode, model, user_id, endpoint, cached, stream, fallback, min_ms, min_cost_cents, skill, q } = query
  const isClass = status?.endsWith('xx')
  const first = Number(status?.[0]) * 100
  return [
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
    q === undefined ? undefined : and(gte(t.request_id, q), lt(t.request_id, `${q}~`)),
    skill === undefined
      ? undefined
      : exists(
          reader
            .select({ one: sql`1` })
            .from(s)
            .where(and(eq(s.record_id, t.id), eq(s.skill, skill))),
        ),
  ]
}
