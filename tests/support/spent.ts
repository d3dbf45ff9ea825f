import { readFileSync } from 'node:fs'

/** Milliseconds a thread ran, and milliseconds it was ready to run while another had the core. */
export type Spent = { ranMs: number; queuedMs: number }

/** Read from the kernel; zeros on systems without schedstat. */
export function spentBy(thread: 'self' | 'thread-self' | (string & {})): Spent {
  try {
    const [ran, queued] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')
    return { ranMs: Number(ran) / 1e6, queuedMs: Number(queued) / 1e6 }
  } catch {
    return { ranMs: 0, queuedMs: 0 }
  }
}
