import { readFileSync } from 'node:fs'

/** Of the kernel's clock for processes. */
const TICK_MS = 10

/** A process: its parent, its time on a processor with all threads, and that of its children that have ended. */
export function processOf(pid: number | string): { parent: number; ms: number; endedMs: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program comes before, and may hold spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ms = (at: number) => (fields[at]! + fields[at + 1]!) * TICK_MS
  return { parent: fields[1]!, ms: ms(11), endedMs: ms(13) }
}

/** Milliseconds that a process was on a processor since it began, with all threads that it had. */
export const processorMsOf = (pid: number): number => processOf(pid).ms

/** Memory of a process, in megabytes. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024
