import { spentBy } from './spent'

/** What `yardstick` takes on the machine that the limits of these tests were set on. */
const USUAL_MS = 7
const TRIES = 5

/**
 * What a piece of work costs at its best of five: milliseconds on the processor of the machine the limits
 * were set on. What other processes took from this thread is off, and a slower machine changes nothing.
 */
export async function effortOf(work: () => unknown, tries = TRIES): Promise<number> {
  return (await leastOf(work, tries)) / (await slowness())
}

/**
 * How long a process has needed so far, of `ms` that have passed since it was started: the time in which it,
 * or this one, was ready and another had the core is off.
 */
export const neededBy = (pid: number, ms: number, queuedBefore: number): number =>
  Math.max(0, ms - spentBy(String(pid)).queuedMs - (spentBy('thread-self').queuedMs - queuedBefore))

let known: Promise<number> | undefined

/** How many times slower than usual this machine is; never below 1. */
export function slowness(): Promise<number> {
  known ??= leastOf(yardstick, TRIES).then((ms) => Math.max(1, ms / USUAL_MS))
  return known
}

async function leastOf(work: () => unknown, tries: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < tries; tried++) {
    const [began, before] = [performance.now(), spentBy('thread-self').queuedMs]
    await work()
    least = Math.min(least, performance.now() - began - (spentBy('thread-self').queuedMs - before))
  }
  return least
}

/** Some of what the product does all day: text, lists, JSON. */
function yardstick(): number {
  const things = Array.from({ length: 6_000 }, (_, n) => ({ id: n, name: `thing ${n}`, tags: ['a', 'b', String(n)] }))
  const text = JSON.stringify(things)
  return JSON.parse(text).length + text.replace(/thing (\d+)/g, '$1').split('"').length
}
