import { line, say } from '../draw/line'
import { paint } from '../draw/paint'
import { picture } from '../draw/picture'
import type { Effect, Event } from '../state/events'
import type { Model } from '../state/model'
import { update } from '../state/update'

type Deps = {
  start: Model
  /** Does what the model asks for. */
  perform(effect: Effect): void
  /** Calls once after a time. */
  after(ms: number, call: () => void): () => void
  /** A view that failed: returns where the details are. */
  crashed(error: unknown): string
}

export type Store = ReturnType<typeof createStore>

/** What comes from the server is collected this long, so that the screen is drawn four times a second at most. */
const COLLECT_MS = 250

/** The state outside React: events go in, one text for the whole screen comes out. */
export function createStore({ start, perform, after, crashed }: Deps) {
  let model = start
  let frame = draw(model)
  let pending: (() => void) | null = null
  let held: Event[] = []
  const listeners = new Set<() => void>()
  return { dispatch, subscribe, frame: () => frame, model: () => model }

  function dispatch(event: Event): void {
    if (model.paused && (event.type === 'streamed' || event.type === 'polled')) {
      held = [...held, event].slice(-500)
      return
    }
    const wasPaused = model.paused
    apply(event)
    if (wasPaused && !model.paused) for (const one of held.splice(0)) apply(one)
    // A sign of life alone is shown with the next second.
    if (event.type === 'streamed' && !event.events.length) return
    const isOwn = event.type === 'key' || event.type === 'pasted' || event.type === 'resized'
    if (isOwn) show()
    else pending ??= after(model.rate > 1 ? model.rate * 1_000 : COLLECT_MS, show)
  }

  function apply(event: Event): void {
    const step = update(model, event)
    model = step.model
    for (const effect of step.effects) perform(effect)
  }

  function show(): void {
    pending?.()
    pending = null
    const next = draw(model)
    if (next === frame) return
    frame = next
    for (const listener of listeners) listener()
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** A screen that cannot be drawn says so; the others go on. */
  function draw(now: Model): string {
    try {
      return picture(now)
        .map((row) => paint(row, now.options))
        .join('\n')
    } catch (error) {
      const place = crashed(error)
      const rows = [
        line(say(` The screen ${now.screen} cannot be drawn.`, 'bad')),
        line(` Details: ${place}`),
        line(' The other screens work: press 1 to 9, or q to quit.'),
      ]
      return rows.map((row) => paint(row, now.options)).join('\n')
    }
  }
}
