import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type Calls, newCalls } from './call-repository'
import type { Choice } from './report-repository'
import { newestId } from './rollup-repository'
import type { Span } from './spans'

/** Calls read per slice. */
export const SLICE = 4_000
/** Yields to the event loop between two slices (I28). */
export type Turn = () => Promise<void>

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
