import { sha256Hex } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { decodeCursor, encodeCursor, type Page } from '../kernel/page'
import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { present } from './chain'
import { filtersOf, isIndexed } from './filters'
import { selectSlice } from './repository'
import type { AuditEvent, AuditQuery, ChainScope } from './schema'
import { seqRangeOf } from './seq-range'

/** Events read per step, so that a filter with few matches does not hold the event loop. */
const WINDOW = 5_000
/** After this many steps the page is returned short, with a cursor to continue from. */
const MAX_WINDOWS = 40

/**
 * Events of one chain, newest first (contract 19). A page may be short or even empty and still have a `next`:
 * with a filter that matches little, one request reads at most 200,000 events.
 */
export async function listEvents(reader: Reader, scope: ChainScope, input: AuditQuery): Promise<Page<AuditEvent>> {
  const list = nameOf(scope, input)
  const before = cursorSeq(input.cursor, list)
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
  return { items: items.map(present), next: resumeAt > floor + 1 ? encodeCursor({ at: resumeAt, id: list }) : null }
}

/** The name a cursor is bound to: the chain and all filters. Only `limit` may change between pages. */
function nameOf(scope: ChainScope, { limit: _, cursor: __, ...filters }: AuditQuery): string {
  const text = JSON.stringify(Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)))
  return `audit:${sha256Hex(scope + text).slice(0, 24)}`
}

function cursorSeq(cursor: string | undefined, list: string): number | null {
  const mark = decodeCursor(cursor)
  if (mark && mark.id !== list) {
    throw invalidInput(
      'cursor',
      '"cursor" was not returned by this list with these filters. Leave it out to start at the beginning.',
    )
  }
  return mark?.at ?? null
}
