import { desc, eq, or, type SQL, sql } from 'drizzle-orm'
import { sha256Hex } from '../kernel/crypto'
import { hasIdPrefix, isIdPrefix } from '../kernel/id-prefix'
import { nameFilter } from '../kernel/keyset'
import { nextTurn } from '../kernel/loop'
import { decodeCursor, encodeCursor, type Page } from '../kernel/page'
import { type RangeQuery, readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { canonical, type End, present } from './chain'
import { baseOf, headOf, lastStored, selectSlice, timeAt } from './repository'
import type { AuditEvent, AuditFilters, AuditQuery, ChainScope } from './schema'
import { auditHeads, auditLog } from './table'

/** The columns of an export, in the order of docs/api.md 19. */
export const EXPORT_COLUMNS = [
  'id',
  'timestamp',
  'action',
  'entity_type',
  'entity_id',
  'user_id',
  'org_id',
  'api_key_id',
  'request_id',
  'status',
  'input_summary',
  'output_summary',
  'prev_hash',
  'hash',
] as const

/** The cells of an event in column order. The summaries are the canonical text that was hashed. */
export const cellsOfEvent = (event: AuditEvent): string[] => [
  event.id,
  event.timestamp,
  event.action,
  event.entityType,
  event.entityId ?? '',
  event.userId ?? '',
  event.orgId ?? '',
  event.apiKeyId ?? '',
  event.requestId,
  String((event.outputSummary as { status?: number }).status ?? ''),
  canonical(event.inputSummary),
  canonical(event.outputSummary),
  event.prevHash,
  event.hash,
]

/** Characters of a UUID. */
const WHOLE_ID = 36

/** Whether `entity_id` can use the partial index of the table, which omits completions. */
const isIndexed = ({ entity_id, entity_type }: AuditFilters): boolean =>
  entity_id !== undefined && entity_type !== 'completion' && !/^((chat)?cmpl|resp|msg)_/.test(entity_id)

/** A range of a chain, `floor < seq <= ceiling`. `end` is the last `seq` of the whole chain. */
type SeqRange = { floor: number; ceiling: number; end: number; base: End }

/** Number of chains read: the most recently written ones. */
const CHAINS = 12

/** Number of events read per step, so that a filter with few matches does not block the event loop. */
const WINDOW = 5_000
/** After this many steps the page is returned short, with a cursor to continue. */
const MAX_WINDOWS = 40

/**
 * Events of one chain, newest first (docs/api.md 19). A page may be short or even empty and still have a `next`,
 * because with a filter that matches little, one request reads at most 200,000 events.
 */
export async function listEvents(reader: Reader, scope: ChainScope, input: AuditQuery): Promise<Page<AuditEvent>> {
  // A cursor is bound to the chain and all filters. Only `limit` may change between pages.
  const { limit: _, cursor: __, ...bound } = input
  const text = JSON.stringify(Object.entries(bound).sort(([a], [b]) => (a < b ? -1 : 1)))
  const list = `audit:${sha256Hex(scope + text).slice(0, 24)}`
  const before = decodeCursor(list, input.cursor)?.at ?? null
  const { floor, ceiling } = await seqRangeOf(reader, scope, input)
  const filters = filtersOf(reader, input)
  const step = isIndexed(input) ? Number.MAX_SAFE_INTEGER : WINDOW

  const rows = []
  let upTo = before === null ? ceiling : Math.min(ceiling, before - 1)
  for (let window = 0; upTo > floor && rows.length <= input.limit && window < MAX_WINDOWS; window++) {
    if (window > 0) await nextTurn()
    const above = Math.max(floor, upTo - step)
    rows.push(...(await selectSlice(reader, { scope, above, upTo, limit: input.limit + 1 - rows.length, filters })))
    upTo = above
  }

  const items = rows.slice(0, input.limit)
  const resumeAt = rows.length > input.limit ? items.at(-1)!.seq : upTo + 1
  return { items: items.map(present), next: resumeAt > floor + 1 ? encodeCursor(list, { at: resumeAt, id: '' }) : null }
}

/** For operators: the newest events of all chains, newest first, each with its position in its chain. */
export async function newestEvents(reader: Reader, limit: number) {
  const t = reader.of(auditHeads)
  const heads = await reader.select().from(t).orderBy(desc(t.at)).limit(CHAINS)
  const slices = await Promise.all(
    heads.map(({ scope, seq }) => selectSlice(reader, { scope, above: 0, upTo: seq, limit, filters: [] })),
  )
  const rows = slices.flat().sort((a, b) => b.at - a.at || b.seq - a.seq)
  return {
    chains: heads.map(({ scope, seq, hash }) => ({ scope, seq, hash })),
    events: rows.slice(0, limit).map((row) => ({ ...present(row), scope: row.scope, seq: row.seq })),
  }
}

/** Converts two dates to `seq` bounds. Throws 400 `validation_error` for an invalid date and a reversed range. */
export async function seqRangeOf(reader: Reader, scope: ChainScope, dates: RangeQuery): Promise<SeqRange> {
  const { from, to } = readRange(dates)
  const end = (await headOf(reader, { scope }))[0]?.seq ?? 0
  const base = await baseOf(reader, scope)
  const floor = from === null ? 0 : await lastBefore(reader, scope, { end, moment: from, base })
  const ceiling = to === null ? end : await lastBefore(reader, scope, { end, moment: to, base })
  return { floor, ceiling, end, base }
}

/**
 * The last `seq` before a given time, by binary search, because times never decrease along a chain. Below the base,
 * events may be missing.
 */
export async function lastBefore(
  reader: Reader,
  scope: ChainScope,
  { end, moment, base }: { end: number; moment: number; base: End },
): Promise<number> {
  if (base.at >= moment) return (await lastStored(reader, { scope, upTo: base.seq, moment }))[0]?.seq ?? 0
  let [low, high] = [base.seq, end]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [event] = await timeAt(reader, { scope, seq: middle })
    if (event && event.at < moment) low = middle
    else high = middle - 1
  }
  return low
}

/** The filters of docs/api.md 19 except the dates, which `seqRangeOf` converts to `seq` bounds. */
export function filtersOf(reader: Reader, input: AuditFilters): (SQL | undefined)[] {
  const t = reader.of(auditLog)
  return [
    input.key_id === undefined ? undefined : eq(t.api_key_id, input.key_id),
    input.mode === undefined ? undefined : eq(t.mode, input.mode),
    input.status === undefined ? undefined : eq(t.status, input.status),
    input.entity_type === undefined ? undefined : eq(t.entity_type, input.entity_type),
    input.entity_id === undefined ? undefined : eq(t.entity_id, input.entity_id),
    input.request_id === undefined ? undefined : eq(t.request_id, input.request_id),
    idFilter(t, input.id),
    nameFilter(t.action, input.action),
    actorFilter(reader, input.actor),
    isIndexed(input) ? sql`${t.entity_type} <> 'completion'` : undefined,
  ]
}

/** Matches the id of one event, or a prefix of at least six characters. */
function idFilter(t: typeof auditLog.sqlite, id: string | undefined): SQL | undefined {
  if (id === undefined) return undefined
  return isIdPrefix(id) && id.length < WHOLE_ID ? hasIdPrefix(t.id, id) : eq(t.id, id as never)
}

/** Matches a user id, a key id, or an operator's name, which is only in the summary. */
function actorFilter(reader: Reader, actor: string | undefined): SQL | undefined {
  if (actor === undefined) return undefined
  const t = reader.of(auditLog)
  const operator =
    reader.dialect === 'sqlite'
      ? sql`json_extract(${t.input}, '$.operator.name')`
      : sql`(${t.input}::json #>> '{operator,name}')`
  return or(eq(t.user_id, actor), eq(t.api_key_id, actor), sql`${operator} = ${actor}`)
}
