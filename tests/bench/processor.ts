import { readFileSync } from 'node:fs'

/** Of the kernel's clock for processes. */
const TICK_MS = 10

/** Milliseconds that a process was on a processor since it began, with all threads that it had. */
export function processorMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program comes before, and may hold spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * TICK_MS
}
