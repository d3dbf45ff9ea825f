/**
 * A histogram that adds up: calls by cell. Up to 128 ms every millisecond has a cell of its own; above, a cell
 * is 1/64 of the power of two it is in, so no figure is off by 1 %. What takes longer than 24 days is in the last.
 */
export type Histogram = Float64Array

const EXACT = 128
const PER_POWER = 64
const EXACT_POWER = 7
const POWERS = 24
const CELLS = EXACT + POWERS * PER_POWER
const LONGEST_MS = 2 ** (EXACT_POWER + POWERS) - 1

export const noCalls = (): Histogram => new Float64Array(CELLS)

/** The cell of a duration in ms. */
export function cellOf(ms: number): number {
  const whole = Math.min(LONGEST_MS, Math.max(0, Math.round(ms)))
  if (whole < EXACT) return whole
  const power = 31 - Math.clz32(whole)
  return EXACT + (power - EXACT_POWER) * PER_POWER + (whole >>> (power - 6)) - PER_POWER
}

/** The middle of a cell in ms. */
function middleOf(cell: number): number {
  if (cell < EXACT) return cell
  const width = 2 ** (Math.floor((cell - EXACT) / PER_POWER) + 1)
  return (PER_POWER + ((cell - EXACT) % PER_POWER)) * width + Math.floor((width - 1) / 2)
}

/** A varint of seven bits a byte for each cell, base64; a zero says that the next is how many empty cells follow. */
export function encode(histogram: Histogram): string {
  let end = 0
  let empty = 0
  for (let cell = 0; cell < histogram.length; cell++) {
    const calls = histogram[cell]!
    if (calls === 0) {
      empty++
      continue
    }
    if (empty > 0) {
      written[end++] = 0
      end = writeVarint(end, empty)
      empty = 0
    }
    end = writeVarint(end, calls)
  }
  return written.subarray(0, end).toBase64()
}

/** What is being encoded: a varint of 2^53 is eight bytes. */
const written = new Uint8Array(CELLS * 8)

function writeVarint(start: number, value: number): number {
  let place = start
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) written[place++] = (left % 128) + 128
  written[place++] = left
  return place
}

/** Adds what `encode` wrote. */
export function addEncoded(into: Histogram, text: string): void {
  const bytes = Uint8Array.fromBase64(text)
  let cell = 0
  for (let place = 0; place < bytes.length; ) {
    const isRun = bytes[place] === 0
    if (isRun) place++
    let value = bytes[place]! & 127
    for (let unit = 128; bytes[place++]! > 127; unit *= 128) value += (bytes[place]! & 127) * unit
    if (isRun) cell += value
    else into[cell++]! += value
  }
}

/** The middle of the cell the nearest-rank percentile falls into, for each of `ranks` (0.5 is the median); 0 of nothing. */
export function percentiles(histogram: Histogram, ranks: readonly number[]): number[] {
  const total = histogram.reduce((sum, calls) => sum + calls, 0)
  return ranks.map((rank) => {
    let left = Math.ceil(rank * total)
    if (left === 0) return 0
    return middleOf(
      histogram.findIndex((calls) => {
        left -= calls
        return left <= 0
      }),
    )
  })
}
