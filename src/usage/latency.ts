/**
 * A histogram that can be added up: calls by cell. Up to 128 ms every millisecond has its own cell; above, a cell
 * is 1/64 of its power of two, so values are off by less than 1 %. The last cell takes everything over 24 days.
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

/** Base64 of one varint per cell (seven bits a byte); after a zero comes the number of empty cells in the run. */
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

/** Buffer for the encoded bytes; a varint of 2^53 takes eight. */
const written = new Uint8Array(CELLS * 8)

function writeVarint(start: number, value: number): number {
  let offset = start
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) written[offset++] = (left % 128) + 128
  written[offset++] = left
  return offset
}

/** Adds a histogram that `encode` wrote. */
export function addEncoded(into: Histogram, text: string): void {
  const bytes = Uint8Array.fromBase64(text)
  let cell = 0
  for (let offset = 0; offset < bytes.length; ) {
    const isRun = bytes[offset] === 0
    if (isRun) offset++
    let value = bytes[offset]! & 127
    for (let unit = 128; bytes[offset++]! > 127; unit *= 128) value += (bytes[offset]! & 127) * unit
    if (isRun) cell += value
    else into[cell++]! += value
  }
}

/** For each of `ranks` (0.5 is the median) the midpoint of the cell with the nearest-rank percentile; 0 without calls. */
export function percentiles(histogram: Histogram, ranks: readonly number[]): number[] {
  const total = histogram.reduce((sum, calls) => sum + calls, 0)
  return ranks.map((rank) => {
    let left = Math.ceil(rank * total)
    if (left === 0) return 0
    // The midpoint of a cell in ms.
    const cell = histogram.findIndex((calls) => {
      left -= calls
      return left <= 0
    })
    if (cell < EXACT) return cell
    const width = 2 ** (Math.floor((cell - EXACT) / PER_POWER) + 1)
    return (PER_POWER + ((cell - EXACT) % PER_POWER)) * width + Math.floor((width - 1) / 2)
  })
}
