import { backoff, Failure, readEvents, type ServerEvent } from '../shared/http'
import type { Visitor } from './visitor'

type Options = {
  visitor: Pick<Visitor, 'events'>
  take(event: ServerEvent): void
  /** After each connection: what was missed is to be read. */
  connected(): void
  /** The connection was lost and is tried again. */
  lost(): void
  /** The server refuses: the session is over or the widget is off. */
  refused(failure: Failure): void
}

/** A connection on which nothing came for so long is dead: the server says something every ten seconds. */
const SILENT_MS = 45_000

/**
 * Listens to the session's events over one long answer, and comes back by itself, from where it was (docs/api.md 15).
 */
export function createListener({ visitor, take, connected, lost, refused }: Options) {
  let running: AbortController | null = null
  let lastId: string | null = null
  let wake = () => {}

  async function run(stop: AbortSignal): Promise<void> {
    for (let tries = 0; !stop.aborted; tries += 1) {
      const attempt = new AbortController()
      const end = () => attempt.abort()
      stop.addEventListener('abort', end, { once: true })
      let watch = setTimeout(end, SILENT_MS)
      try {
        const response = await visitor.events(lastId, attempt.signal)
        connected()
        await readEvents(
          response,
          (event) => {
            tries = 0
            if (event.id) lastId = event.id
            if (!stop.aborted) take(event)
          },
          () => {
            clearTimeout(watch)
            watch = setTimeout(end, SILENT_MS)
          },
        )
      } catch (error) {
        if (stop.aborted) return
        if (error instanceof Failure && [401, 403, 404].includes(error.status)) return refused(error)
      } finally {
        clearTimeout(watch)
        stop.removeEventListener('abort', end)
      }
      if (stop.aborted) return
      lost()
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, backoff(tries))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  return {
    start(): void {
      if (running) return
      running = new AbortController()
      void run(running.signal)
    },
    stop(): void {
      running?.abort()
      running = null
      lastId = null
      wake()
    },
    /** Tries at once instead of waiting: the network is back. */
    hurry: () => wake(),
  }
}
