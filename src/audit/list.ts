import { eq, type SQL, sql } from 'drizzle-orm'
import { invalidInput } from '../kernel/errors'
import { decodeCursor, encodeCursor, type Page } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { present } from './chain'
import { headOf, selectSlice, timeAt } from './repository'
import type { AuditEvent, AuditQuery, ChainScope } from './schema'
import { auditEvents } from './table'

/** A rare filter must not hold the event loop: it reads this many places of the chain at a time … */
const WINDOW = 5_000
/** … and answers a short page, with a cursor to go on from, after this many. */
const MAX_WINDOWS = 40
const CURSOR_OF = 'audit'

/**
 * Events of one chain, newest first (contract 19). A page may be short, even empty, and still have a
 * `next`: a filter that matches little stops after 200,000 events and goes on from there.
 */
export async function listEvents(reader: Reader, scope: ChainScope, input: AuditQuery): Promise<Page<AuditEvent>> {
  const { floor, ceiling } = await placesOf(reader, scope, input)
  const filters = filtersOf(reader, input)
  const step = isIndexed(input) ? Number.MAX_SAFE_INTEGER : WINDOW

  const rows = []
  let upTo = ceiling
  for (let window = 0; upTo > floor && rows.length <= input.limit && window < MAX_WINDOWS; window++) {
    if (window > 0) await new Promise((resolve) => setImmediate(resolve))
    const above = Math.max(floor, upTo - step)
    rows.push(...(await selectSlice(reader, { scope, above, upTo, limit: input.limit + 1 - rows.length, filters })))
    upTo = above
  }

  const items = rows.slice(0, input.limit)
  const resumeAt = rows.length > input.limit ? items.at(-1)!.seq : upTo + 1
  return { items: items.map(present), next: resumeAt > floor + 1 ? cursorAfter(resumeAt) : null }
}

const cursorAfter = (seq: number): string => encodeCursor({ at: seq, id: CURSOR_OF })

/** Dates and cursor as places of the chain: `floor < seq <= ceiling`. */
async function placesOf(reader: Reader, scope: ChainScope, input: AuditQuery) {
  const { from, to } = readRange(input)
  const before = cursorSeq(input.cursor)
  const end = (await headOf(reader, { scope }))[0]?.seq ?? 0
  const floor = from === null ? 0 : await lastBefore(reader, scope, end, from)
  const ceiling = to === null ? end : await lastBefore(reader, scope, end, to)
  return { floor, ceiling: before === null ? ceiling : Math.min(ceiling, before - 1) }
}

/** The last place of a chain before a moment, by halving: time never falls along a chain. */
async function lastBefore(reader: Reader, scope: ChainScope, end: number, moment: number): Promise<number> {
  let [low, high] = [0, end]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [event] = await timeAt(reader, { scope, seq: middle })
    if (event && event.at < moment) low = middle
    else high = middle - 1
  }
  return low
}

function cursorSeq(cursor: string | undefined): number | null {
  const mark = decodeCursor(cursor)
  if (mark && mark.id !== CURSOR_OF) {
    throw invalidInput('cursor', '"cursor" is not one this list gave out. Leave it off to start.')
  }
  return mark?.at ?? null
}

/** Everything but completions is found by its id in one look (the partial index of the table). */
const isIndexed = ({ entity_id, entity_type }: AuditQuery): boolean =>
  entity_id !== undefined && entity_type !== 'completion' && !/^(chat)?cmpl_/.test(entity_id)

function filtersOf(reader: Reader, input: AuditQuery): (SQL | undefined)[] {
  const t = reader.of(auditEvents)
  return [
    input.key_id === undefined ? undefined : eq(t.api_key_id, input.key_id),
    input.mode === undefined ? undefined : eq(t.mode, input.mode),
    input.status === undefined ? undefined : eq(t.status, input.status),
    input.entity_type === undefined ? undefined : eq(t.entity_type, input.entity_type),
    input.entity_id === undefined ? undefined : eq(t.entity_id, input.entity_id),
    input.request_id === undefined ? undefined : eq(t.request_id, input.request_id),
    actionFilter(t, input.action),
    isIndexed(input) ? sql`${t.entity_type} <> 'completion'` : undefined,
  ]
}

/** `key.*` is every action that begins with `key.` */
function actionFilter(t: typeof auditEvents.sqlite, action: string | undefined): SQL | undefined {
  if (action === undefined) return undefined
  if (!action.endsWith('.*')) return eq(t.action, action)
  const family = action.slice(0, -1)
  return sql`substr(${t.action}, 1, ${family.length}) = ${family}`
}
