import type { Clock } from '../kernel/clock'
import type { ModeGroup } from './limiter'

/** Every limit counts over the last 60 seconds, as a sliding window (docs/api.md 1.6). */
export const WINDOW_MS = 60_000

const FIRST_CAPACITY = 8
/** An entry this close to leaving still counts, so that rounding of doubles cannot let it leave early. */
const SOON_MS = 0.001

/**
 * An exact log of what was admitted in the last 60 seconds: a growing ring of (time, weight), oldest first. Times are
 * monotonic milliseconds. Because an entry leaves exactly 60 s after it came, no half-open minute, wherever it
 * begins, can exceed the limit (docs/promises.md I12).
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

/** The weight of the last 60 seconds that was added before `end`. */
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

export type WindowName = 'requests' | 'tokens' | ModeGroup

/** Result of `take`. Without an entry it was refused, and fits after `waitMs`, which is Infinity if it never fits. */
export type Taken = {
  entry: Entry | null
  /** The limit that applied, and how much of it was used before. */
  limit: number
  used: number
  waitMs: number
}

/** An admitted weight. `correct` sets its true value, once. */
export type Entry = { correct(weight: number): void }

/** The weight of the last minute, and milliseconds until the window is empty. */
export type View = { used: number; resetMs: number }

/** Where windows are counted: by this process alone, or by all nodes together. */
export type WindowStore = {
  /** Adds `weight` unless the window then held more than `limit`. */
  take(subject: string, name: WindowName, limit: number, weight: number): Taken | Promise<Taken>
  /** Adds weight without a check. */
  add(subject: string, name: WindowName, weight: number): void
  /** The view that this process has now, without waiting. */
  view(subject: string, name: WindowName): View
  /** The exact view of all nodes. */
  read(subject: string, names: readonly WindowName[]): View[] | Promise<View[]>
}

/** A class, because every call adds three. */
class WindowEntry implements Entry {
  private readonly number: number

  constructor(
    private readonly window: Window,
    now: number,
    weight: number,
  ) {
    this.number = add(window, now, weight)
  }

  correct(weight: number): void {
    correct(this.window, this.number, weight)
  }
}

export type LocalStore = ReturnType<typeof createLocalStore>

/** The windows of one process. */
export function createLocalStore({ clock, windows }: { clock: Clock; windows: MemoryWindows }) {
  function windowOf(subject: string, name: WindowName, now: number): Window {
    const found = windows.of(subject, now)
    if (name === 'requests' || name === 'tokens') return found[name]
    found.modes[name] ??= createWindow()
    return found.modes[name]
  }

  return {
    windowOf: (subject: string, name: WindowName): Window => windowOf(subject, name, clock.monotonic()),
    take(subject: string, name: WindowName, limit: number, weight: number): Taken {
      const now = clock.monotonic()
      const window = windowOf(subject, name, now)
      const waitMs = waitFor(window, now, limit, weight)
      const before = used(window, now)
      return { entry: waitMs > 0 ? null : new WindowEntry(window, now, weight), limit, used: before, waitMs }
    },
    add(subject: string, name: WindowName, weight: number): Entry {
      const now = clock.monotonic()
      return new WindowEntry(windowOf(subject, name, now), now, weight)
    },
    view(subject: string, name: WindowName): View {
      const now = clock.monotonic()
      const window = windowOf(subject, name, now)
      return { used: used(window, now), resetMs: resetMs(window, now) }
    },
    read(subject: string, names: readonly WindowName[]): View[] {
      return names.map((name) => this.view(subject, name))
    },
  } satisfies WindowStore & { windowOf: unknown }
}

/** The windows of one subject; each is created on first use. */
type SubjectWindows = { requests: Window; tokens: Window; modes: Partial<Record<ModeGroup, Window>> }

type MemoryWindows = { of(subject: string, now: number): SubjectWindows; readonly size: number }

/**
 * Windows in memory, in two generations. A subject not seen for a whole generation (a minute or more) has only empty
 * windows and is dropped with the older generation: no sweep and no timer. `maxSubjects` drops them sooner; use it
 * only for counts that are not enforced.
 */
export function createMemoryWindows(clock: Clock, maxSubjects = Number.POSITIVE_INFINITY): MemoryWindows {
  let current = new Map<string, SubjectWindows>()
  let previous = new Map<string, SubjectWindows>()
  let rotateAt = clock.monotonic() + WINDOW_MS

  return {
    of(subject, now) {
      if (now >= rotateAt || current.size >= maxSubjects) {
        previous = current
        current = new Map()
        rotateAt = now + WINDOW_MS
      }
      let windows = current.get(subject)
      if (windows) return windows
      windows = previous.get(subject) ?? { requests: createWindow(), tokens: createWindow(), modes: {} }
      current.set(subject, windows)
      return windows
    },
    get size() {
      return new Set([...current.keys(), ...previous.keys()]).size
    },
  }
}
