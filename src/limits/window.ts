/** Every limit counts over the last 60 seconds, as a sliding window (contract 1.6). */
export const WINDOW_MS = 60_000

const FIRST_CAPACITY = 8
/** An entry this close to leaving still counts, so that rounding of doubles cannot let it leave early. */
const SOON_MS = 0.001

/**
 * An exact log of what was admitted in the last 60 seconds: a growing ring of (time, weight), oldest first. Times are
 * monotonic milliseconds. Because an entry leaves exactly 60 s after it came, no half-open minute, wherever it
 * begins, can exceed the limit (I12).
 */
export type Window = {
  times: Float64Array
  weights: Float64Array
  head: number
  size: number
  sum: number
  /** How many entries have left so far; entry numbers are never reused. */
  left: number
}

export const createWindow = (): Window => ({
  times: new Float64Array(FIRST_CAPACITY),
  weights: new Float64Array(FIRST_CAPACITY),
  head: 0,
  size: 0,
  sum: 0,
  left: 0,
})

/** The total weight of the last 60 seconds. Drops older entries. */
export function used(window: Window, now: number): number {
  const mask = window.times.length - 1
  const end = now - WINDOW_MS
  while (window.size > 0 && window.times[window.head]! <= end) {
    window.sum -= window.weights[window.head]!
    window.head = (window.head + 1) & mask
    window.size--
    window.left++
  }
  return window.sum
}

/** How much of it came before an instant. */
export function usedBefore(window: Window, now: number, end: number): number {
  used(window, now)
  const mask = window.times.length - 1
  let sum = 0
  for (let place = 0; place < window.size; place++) {
    const at = (window.head + place) & mask
    if (window.times[at]! >= end) break
    sum += window.weights[at]!
  }
  return sum
}

/** Adds an entry and returns its number, for `correct`. */
export function add(window: Window, now: number, weight: number): number {
  if (window.size === window.times.length) grow(window)
  const at = (window.head + window.size) & (window.times.length - 1)
  window.times[at] = now
  window.weights[at] = weight
  window.sum += weight
  return window.left + window.size++
}

/** Sets the true weight of an entry; does nothing when it has left the window. */
export function correct(window: Window, entry: number, weight: number): void {
  const place = entry - window.left
  if (place < 0 || place >= window.size) return
  const at = (window.head + place) & (window.times.length - 1)
  window.sum += weight - window.weights[at]!
  window.weights[at] = weight
}

/** Milliseconds until `weight` more fits under `limit`; 0 when it fits now, Infinity when it never can. */
export function waitFor(window: Window, now: number, limit: number, weight: number): number {
  let excess = used(window, now) + weight - limit
  if (excess <= 0) return 0
  if (weight > limit) return Number.POSITIVE_INFINITY
  const mask = window.times.length - 1
  for (let place = 0; place < window.size; place++) {
    const at = (window.head + place) & mask
    excess -= window.weights[at]!
    if (excess <= 0) return Math.max(window.times[at]! + WINDOW_MS - now, SOON_MS)
  }
  return WINDOW_MS
}

/** Milliseconds until the window is empty if nothing more is added. */
export function resetMs(window: Window, now: number): number {
  if (used(window, now) === 0) return 0
  const newest = (window.head + window.size - 1) & (window.times.length - 1)
  return window.times[newest]! + WINDOW_MS - now
}

/** Capacities are powers of two, so that ring positions can be computed with a mask. */
function grow(window: Window): void {
  const { times, weights, head } = window
  window.times = new Float64Array(times.length * 2)
  window.weights = new Float64Array(times.length * 2)
  for (let place = 0; place < window.size; place++) {
    const from = (head + place) & (times.length - 1)
    window.times[place] = times[from]!
    window.weights[place] = weights[from]!
  }
  window.head = 0
}
