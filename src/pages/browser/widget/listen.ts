import { backoff, Failure, readEvents, type ServerEvent } from '../shared/http'
import type { Visitor } from './visitor'

type Options = {
  visitor: Pick<Visitor, 'events'>
  take(event: ServerEvent): void
  /** Called after each connection. Missed messages must then be read. */
  connected(): void
  /** The connection was lost and is being retried. */
  lost(): void
  /** The server rejects the call: the session has ended or the widget is disabled. */
  refused(failure: Failure): void
}

/** A connection silent for this long is dead, because the server sends something every ten seconds. */
const SILENT_MS = 45_000

/** Listens to the session's events. Resumes after the last event on reconnecting (docs/api.md 15). */
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
    /** Retries at once, because the network is back. */
    hurry: () => wake(),
  }
}
