import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type Calls, newCalls } from './call-repository'
import type { Choice } from './report-repository'
import { newestId } from './rollup-repository'
import type { Span } from './spans'

/** How many calls are looked at in one go. */
export const SLICE = 4_000
/** Between two goes everyone else gets one (I28). */
export type Turn = () => Promise<void>

/** The calls of a span that are not rolled yet, in slices. */
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
