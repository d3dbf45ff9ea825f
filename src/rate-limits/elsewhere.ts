import type { Clock } from '../kernel/clock'
import { WINDOW_MS, type Window } from './window'
import type { LocalStore, View, WindowName } from './window-store'

/** What other nodes let in, as it was last heard. */
export function createElsewhere({ clock, mine }: { clock: Clock; mine: LocalStore }) {
  const heard = new WeakMap<Window, { used: number; heardAt: number; resetAt: number }>()

  return {
    hear,
    used,
    /** Of windows of all nodes together, as pairs of what is used and when that is gone. */
    hearAll(subject: string, names: readonly WindowName[], found: readonly number[]): void {
      for (const [at, name] of names.entries()) {
        const here = mine.view(subject, name).used
        hear(mine.windowOf(subject, name), Math.max(found[2 * at]! - here, 0), found[2 * at + 1]!)
      }
    },
    /** Of all nodes together. */
    view(subject: string, name: WindowName): View {
      const here = mine.view(subject, name)
      const window = mine.windowOf(subject, name)
      const others = used(window)
      if (!others) return here
      const resetMs = Math.max(here.resetMs, heard.get(window)!.resetAt - clock.monotonic())
      return { used: here.used + others, resetMs }
    },
  }

  function hear(window: Window, used: number, resetMs: number): void {
    const heardAt = clock.monotonic()
    heard.set(window, { used, heardAt, resetAt: heardAt + Math.min(resetMs, WINDOW_MS) })
  }

  function used(window: Window): number {
    const other = heard.get(window)
    return other && clock.monotonic() < other.heardAt + WINDOW_MS ? other.used : 0
  }
}
