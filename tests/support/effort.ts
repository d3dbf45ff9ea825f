import { spentBy } from './spent'

/** Duration of `yardstick` on the machine the limits of these tests were set on. */
const USUAL_MS = 7
const TRIES = 5

/**
 * Best time of several runs, in milliseconds of the machine the limits were set on: time taken by other processes is
 * subtracted, and the result is divided by this machine's slowness.
 */
export async function effortOf(work: () => unknown, tries = TRIES): Promise<number> {
  return (await minOf(work, tries)) / (await slowness())
}

/**
 * How much of `ms` since its start a process needed itself: subtracts the time in which it, or this one, was ready to
 * run while another process had the core.
 */
export const neededBy = (pid: number, ms: number, queuedBefore: number): number =>
  Math.max(0, ms - spentBy(String(pid)).queuedMs - (spentBy('thread-self').queuedMs - queuedBefore))

/**
 * Milliseconds that pass from now on while neither this thread nor the main thread of that process waits for a core: for
 * a limit of a server, on a machine that has no time for it.
 */
export function timeGivenTo(pid: number): () => number {
  const queued = () => spentBy('thread-self').queuedMs + spentBy(String(pid)).queuedMs
  const [from, before] = [performance.now(), queued()]
  return () => performance.now() - from - (queued() - before)
}

let known: Promise<number> | undefined

/** How many times slower than the reference machine this one is; at least 1. */
export function slowness(): Promise<number> {
  known ??= minOf(yardstick, TRIES).then((ms) => Math.max(1, ms / USUAL_MS))
  return known
}

async function minOf(work: () => unknown, tries: number): Promise<number> {
  let min = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < tries; tried++) {
    const began = ownTime()
    await work()
    min = Math.min(min, ownTime() - began)
  }
  return min
}

/** Milliseconds on a clock that stands still while this thread is ready and another process has the core. */
export function ownTime(): number {
  let queued = spentBy('thread-self').queuedMs
  for (;;) {
    const now = performance.now()
    const before = queued
    queued = spentBy('thread-self').queuedMs
    // A wait between the two readings would count for one of them only, and an hour could end before it began.
    if (queued === before) return now - queued
  }
}

/** A workload like the product's: text, lists, JSON. */
function yardstick(): number {
  const things = Array.from({ length: 6_000 }, (_, n) => ({ id: n, name: `thing ${n}`, tags: ['a', 'b', String(n)] }))
  const text = JSON.stringify(things)
  return JSON.parse(text).length + text.replace(/thing (\d+)/g, '$1').split('"').length
}
