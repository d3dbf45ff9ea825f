import { readFileSync } from 'node:fs'

/** Milliseconds a thread has been ready to run while something else had the core, as the kernel counts them. */
export function queuedMs(thread: 'self' | 'thread-self' | (string & {})): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
