import { readFileSync } from 'node:fs'

/** How long a thread has run, and how long it was ready to while something else had the core; milliseconds. */
export type Spent = { ranMs: number; queuedMs: number }

/** As the kernel counts it; zeros where it does not. */
export function spentBy(thread: 'self' | 'thread-self' | (string & {})): Spent {
  try {
    const [ran, queued] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')
    return { ranMs: Number(ran) / 1e6, queuedMs: Number(queued) / 1e6 }
  } catch {
    return { ranMs: 0, queuedMs: 0 }
  }
}
