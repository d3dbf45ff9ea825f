import { type Clock, systemClock } from './clock'

let last: Promise<void> = Promise.resolve()

export type Loop = { wake(): void; stop(): Promise<void> }

type LoopOptions = {
  name: string
  /** Processes one batch and returns its number of items. 0 means there was nothing to do. */
  tick(signal: AbortSignal): Promise<number>
  /** How long to wait when there is nothing to do. A function is called before each wait. */
  idleMs: number | (() => number)
  /** Maximum wait after failures. Default: a minute. */
  longestNapMs?: number
  clock: Clock
  onError(name: string, error: unknown): void
}

const LONGEST_NAP_MS = 60_000
/** Loops with long waits wake together, because each wake-up of a sleeping server costs more than the work it does. */
const BEAT_MS = 500
const MIN_BEATS = 2
/** Timers fire up to a millisecond early. */
const SLACK_MS = 2

/** The part of a wait of `ms` until the last beat within it. A short wait stays whole. */
export function untilBeat(clock: Clock, ms: number): number {
  if (ms < MIN_BEATS * BEAT_MS) return ms
  const now = clock.monotonic()
  return Math.floor((now + ms + SLACK_MS) / BEAT_MS) * BEAT_MS - now
}

/**
 * Runs `tick` until stopped: at once while there is work, otherwise after `idleMs` or a `wake`. A failing tick is
 * reported and retried with backoff, and never ends the loop. `stop` waits for the batch in progress.
 */
export function startLoop({ name, tick, idleMs, longestNapMs = LONGEST_NAP_MS, clock, onError }: LoopOptions): Loop {
  const stopping = new AbortController()
  let nap = new AbortController()
  let woken = false
  let failures = 0

  const attempt = async () => {
    try {
      const handled = await tick(stopping.signal)
      failures = 0
      return handled
    } catch (error) {
      failures += 1
      onError(name, error)
      return 0
    }
  }

  const run = async () => {
    while (!stopping.signal.aborted) {
      woken = false
      nap = new AbortController()
      const handled = await attempt()
      if (handled > 0 || woken) continue
      const idle = typeof idleMs === 'function' ? idleMs() : idleMs
      const waitMs = Math.min(idle * 2 ** failures, longestNapMs)
      await clock.sleep(untilBeat(clock, waitMs), AbortSignal.any([nap.signal, stopping.signal]))
    }
  }

  const finished = run()
  return {
    wake() {
      woken = true
      nap.abort()
    },
    async stop() {
      stopping.abort()
      await finished
    },
  }
}

/**
 * Lets pending requests run during long work, by resolving in a later turn of the event loop. All callers share one
 * queue and one of them resumes per turn, so many long jobs block the loop no longer than one (docs/promises.md I28).
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}

/** Batch sizes of a cleanup, in rows. A batch slower than `longMs` at least halves the next one. Fast batches grow. */
const BATCH = { first: 50, most: 200, longMs: 25, shortMs: 10, growth: 1.25 }

/**
 * Deletes in batches until `remove` finds nothing more or the signal aborts. `remove` handles up to `limit` rows in one
 * transaction and returns their number, or their times in ascending order. With times, the next batch starts at the
 * last one. So it does not read again the deleted rows that Postgres keeps for long reads. The limit adapts to the
 * duration of a batch, because other writes wait for it. Returns the total number of rows.
 */
export async function inBatches(
  remove: (limit: number, from: number) => Promise<number | readonly number[]>,
  signal?: AbortSignal,
): Promise<number> {
  let [limit, from, total] = [BATCH.first, 0, 0]
  while (!signal?.aborted) {
    const began = systemClock.monotonic()
    const removed = await remove(limit, from)
    const count = typeof removed === 'number' ? removed : removed.length
    if (count === 0) break
    total += count
    if (typeof removed !== 'number') from = removed.at(-1)!
    const took = systemClock.monotonic() - began
    if (took > BATCH.longMs) limit = Math.max(1, Math.floor(limit * Math.min(0.5, BATCH.shortMs / took)))
    else if (took < BATCH.shortMs) limit = Math.min(BATCH.most, Math.ceil(limit * BATCH.growth))
    await nextTurn()
  }
  return total
}
