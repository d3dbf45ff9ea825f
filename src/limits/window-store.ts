import type { Clock } from '../kernel/clock'
import type { MemoryWindows } from './memory-windows'
import type { ModeGroup } from './tiers'
import { add, correct, createWindow, resetMs, used, type Window, waitFor } from './window'

export type WindowName = 'requests' | 'tokens' | ModeGroup

/** What became of a claim. Without an entry it did not fit, and fits after `waitMs`: Infinity for never. */
export type Taken = {
  entry: Entry | null
  /** The limit it was held against, and what was used of it before. */
  limit: number
  used: number
  waitMs: number
}

/** What was taken. `correct` sets its true weight, once. */
export type Entry = { correct(weight: number): void }

/** The weight of the last minute, and milliseconds until nothing of it is left. */
export type View = { used: number; resetMs: number }

/** Where windows are counted: by this process alone, or by all nodes together. */
export type WindowStore = {
  /** Adds `weight` unless the window then held more than `limit`. */
  take(subject: string, name: WindowName, limit: number, weight: number): Taken | Promise<Taken>
  /** Adds what was used already. */
  add(subject: string, name: WindowName, weight: number): void
  /** As far as this process knows it at this instant. */
  view(subject: string, name: WindowName): View
  /** As it is. */
  read(subject: string, names: readonly WindowName[]): View[] | Promise<View[]>
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

  function put(window: Window, now: number, weight: number): Entry {
    const entry = add(window, now, weight)
    return { correct: (actual) => correct(window, entry, actual) }
  }

  return {
    windowOf: (subject: string, name: WindowName): Window => windowOf(subject, name, clock.monotonic()),
    take(subject: string, name: WindowName, limit: number, weight: number): Taken {
      const now = clock.monotonic()
      const window = windowOf(subject, name, now)
      const waitMs = waitFor(window, now, limit, weight)
      const before = used(window, now)
      return { entry: waitMs > 0 ? null : put(window, now, weight), limit, used: before, waitMs }
    },
    add(subject: string, name: WindowName, weight: number): Entry {
      const now = clock.monotonic()
      return put(windowOf(subject, name, now), now, weight)
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
