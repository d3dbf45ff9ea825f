import type { Clock } from '../kernel/clock'
import type { ModeGroup } from './tiers'
import { createWindow, WINDOW_MS, type Window } from './window'

/** The windows of one subject; each is created on first use. */
type SubjectWindows = { requests: Window; tokens: Window; modes: Partial<Record<ModeGroup, Window>> }

export type MemoryWindows = { of(subject: string, now: number): SubjectWindows; readonly size: number }

/**
 * Windows in memory, in two generations. A subject not seen for a whole generation (a minute or more) has only empty
 * windows and is dropped with the older generation: no sweep and no timer. `maxSubjects` drops them sooner; use it
 * only for counts that are not enforced.
 */
export function createMemoryWindows(clock: Clock, maxSubjects = Number.POSITIVE_INFINITY): MemoryWindows {
  let current = new Map<string, SubjectWindows>()
  let previous = new Map<string, SubjectWindows>()
  let rotateAt = clock.monotonic() + WINDOW_MS

  function rotate(now: number): void {
    previous = current
    current = new Map()
    rotateAt = now + WINDOW_MS
  }

  return {
    of(subject, now) {
      if (now >= rotateAt || current.size >= maxSubjects) rotate(now)
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
