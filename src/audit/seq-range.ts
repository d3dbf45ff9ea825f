import { type RangeQuery, readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { headOf, timeAt } from './repository'
import type { ChainScope } from './schema'

/** A range of a chain, `floor < seq <= ceiling`; `end` is the last `seq` of the whole chain. */
export type SeqRange = { floor: number; ceiling: number; end: number }

/** Turns two dates into `seq` bounds. Throws 400 `validation_error` for an invalid date and a reversed range. */
export async function seqRangeOf(reader: Reader, scope: ChainScope, dates: RangeQuery): Promise<SeqRange> {
  const { from, to } = readRange(dates)
  const end = (await headOf(reader, { scope }))[0]?.seq ?? 0
  const floor = from === null ? 0 : await lastBefore(reader, scope, end, from)
  const ceiling = to === null ? end : await lastBefore(reader, scope, end, to)
  return { floor, ceiling, end }
}

/** The last `seq` before a moment, by binary search: times never decrease along a chain. */
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
