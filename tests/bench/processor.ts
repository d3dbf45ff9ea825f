import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds that a process was on a processor since it began, all of its threads together. */
export function processorMsOf(pid: number): number {
  let ns = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // It ended meanwhile.
    }
  }
  return ns / 1e6
}
