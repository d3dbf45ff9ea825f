/**
 * A histogram that adds up: calls by the lower bound of their cell, in ms. Up to 128 ms every millisecond has
 * a cell of its own; above, cells are 1/64 of the power of two they are in, so no figure is off by 1 %.
 */
export type Histogram = Map<number, number>

const EXACT_BITS = 7

export function cellOf(ms: number): number {
  const whole = Math.max(0, Math.round(ms))
  const width = widthAt(whole)
  return whole - (whole % width)
}

const widthAt = (ms: number): number => (ms < 2 ** EXACT_BITS ? 1 : 2 ** (Math.floor(Math.log2(ms)) - EXACT_BITS + 1))

export function count(histogram: Histogram, cell: number, calls: number): void {
  histogram.set(cell, (histogram.get(cell) ?? 0) + calls)
}

export function addAll(into: Histogram, from: Iterable<readonly [number, number]>): void {
  for (const [cell, calls] of from) count(into, cell, calls)
}

/** As one JSON object, cells in order: equal histograms are equal text. */
export const encode = (histogram: Histogram): string =>
  JSON.stringify(Object.fromEntries([...histogram].sort(([a], [b]) => a - b)))

export const decode = (text: string): [number, number][] =>
  Object.entries(JSON.parse(text) as Record<string, number>).map(([cell, calls]) => [Number(cell), calls])

/** The middle of the cell the nearest-rank percentile falls into, for each of `ranks` (0.5 is the median); 0 of nothing. */
export function percentiles(histogram: Histogram, ranks: readonly number[]): number[] {
  const cells = [...histogram].sort(([a], [b]) => a - b)
  const total = cells.reduce((sum, [, calls]) => sum + calls, 0)
  return ranks.map((rank) => {
    let left = Math.ceil(rank * total)
    for (const [cell, calls] of cells) {
      left -= calls
      if (left <= 0) return middleOf(cell)
    }
    return 0
  })
}

const middleOf = (cell: number): number => cell + Math.floor((widthAt(cell) - 1) / 2)
