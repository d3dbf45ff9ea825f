/** Counts of one minute. `slow` is a histogram of durations: the last cell takes all that is longer. */
export type Minute = {
  /** Epoch minutes. */
  at: number
  requests: number
  /** 4xx, of which `unpaid` are 402 and `limited` are 429. */
  refused: number
  unpaid: number
  limited: number
  /** 5xx. */
  failed: number
  slow: number[]
}

/** The upper end of each cell in ms: half as much again each time, to twenty minutes. */
const ENDS = Array.from({ length: 35 }, (_, cell) => 1.5 ** cell)

export const emptyMinute = (at: number): Minute => ({
  at,
  requests: 0,
  refused: 0,
  unpaid: 0,
  limited: 0,
  failed: 0,
  slow: ENDS.map(() => 0),
})

/** `ms` is null for what has no time of its own, such as a stream that lasts as long as its reader stays. */
export function countIn(minute: Minute, status: number, ms: number | null): void {
  minute.requests += 1
  if (status >= 500) minute.failed += 1
  else if (status >= 400) minute.refused += 1
  if (status === 402) minute.unpaid += 1
  if (status === 429) minute.limited += 1
  if (ms === null) return
  const cell = ENDS.findIndex((end) => ms <= end)
  minute.slow[cell < 0 ? ENDS.length - 1 : cell]! += 1
}

export function addMinutes(into: Minute, more: Minute): void {
  into.requests += more.requests
  into.refused += more.refused
  into.unpaid += more.unpaid
  into.limited += more.limited
  into.failed += more.failed
  for (const [cell, count] of more.slow.entries()) if (cell < into.slow.length) into.slow[cell]! += count
}

/** Milliseconds that this share of the requests did not exceed; null without requests. */
export function percentile({ slow }: Minute, share: number): number | null {
  const total = slow.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * share)
  if (!left) return null
  const cell = slow.findIndex((count) => {
    left -= count
    return left <= 0
  })
  return Math.round(ENDS[cell]!)
}

/** A minute as small words, for the other processes. */
export const packMinute = ({ slow, ...counts }: Minute) => ({ ...counts, slow: slow.join(',') })

/** Null for what is no such minute. */
export function unpackMinute(heard: Readonly<Record<string, unknown>>): Minute | null {
  const { at, requests, refused, unpaid, limited, failed, slow } = heard
  const counts = [at, requests, refused, unpaid, limited, failed].map(Number)
  const cells = String(slow).split(',').map(Number)
  if ([...counts, ...cells].some((one) => !Number.isSafeInteger(one) || one < 0)) return null
  const [when, all, refusals, payless, over, faults] = counts as [number, number, number, number, number, number]
  return {
    ...{ at: when, requests: all, refused: refusals, unpaid: payless, limited: over, failed: faults },
    slow: ENDS.map((_, cell) => cells[cell] ?? 0),
  }
}
