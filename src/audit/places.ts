import { type RangeQuery, readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { headOf, timeAt } from './repository'
import type { ChainScope } from './schema'

/** A part of a chain, `floor < seq <= ceiling`, and where the whole of it ends. */
export type Places = { floor: number; ceiling: number; end: number }

/** Two dates as places of a chain. Throws 400 `validation_error` for what is no date, and for a reversed pair. */
export async function placesOf(reader: Reader, scope: ChainScope, dates: RangeQuery): Promise<Places> {
  const { from, to } = readRange(dates)
  const end = (await headOf(reader, { scope }))[0]?.seq ?? 0
  const floor = from === null ? 0 : await lastBefore(reader, scope, end, from)
  const ceiling = to === null ? end : await lastBefore(reader, scope, end, to)
  return { floor, ceiling, end }
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
