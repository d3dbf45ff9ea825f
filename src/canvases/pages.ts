import { type Page, toPage } from '../kernel/page'
import type { Outline } from './repository'

/** Most bytes of graphs in one page: serializing more would block the event loop (I28). */
const PAGE_BYTES = 4 * 1024 * 1024

/** Reads one page of large rows. The page ends early when the rows together exceed PAGE_BYTES, but has at least one. */
export async function readPage<Id extends string, Row extends { id: Id }>(
  outlines: readonly Outline<Id>[],
  limit: number,
  read: (ids: Id[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  const fitting = Math.min(limit, countFitting(outlines))
  const page = toPage([...outlines], fitting, ({ at, id }) => ({ at, id }))
  const rows = new Map((await read(page.items.map(({ id }) => id))).map((row) => [row.id, row]))
  // A row deleted between the two reads is left out.
  return { items: page.items.flatMap(({ id }) => rows.get(id) ?? []), next: page.next }
}

function countFitting(outlines: readonly Outline<string>[]): number {
  let bytes = 0
  const tooMany = outlines.findIndex((outline, index) => {
    bytes += outline.bytes
    return bytes > PAGE_BYTES && index > 0
  })
  return tooMany < 0 ? outlines.length : tooMany
}
