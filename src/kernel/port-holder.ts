import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'

/** Tries to listen on a port and stops at once. Returns the error code, such as EADDRINUSE, or null on success. */
export function portProblem(hostname: string, port: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const probe = createServer()
  probe.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code))
  probe.listen(port, hostname, () => probe.close(() => resolve(null)))
  return promise
}

/**
 * Text that a port is in use, and by which program if Linux lets this user know: ` (pid 812, node)` (docs/operating.md
 * 4.3). Other systems, and programs of other users, are not named.
 */
export function inUse(port: number): string {
  const holder = holderOf(port)
  return `is used by another program${holder ? ` (pid ${holder.pid}, ${holder.name})` : ''}`
}

function holderOf(port: number): { pid: string; name: string } | null {
  // The listening sockets on the port in Linux's tables, which write the port in hexadecimal.
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
      readText(table)
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, at = '', , state]) => state === LISTENS && Number.parseInt(at.split(':')[1] ?? '', 16) === port)
        .map((columns) => `socket:[${columns[9]}]`),
    ),
  )
  if (!sockets.size) return null
  const pid = listed('/proc').find(
    (name) =>
      /^\d+$/.test(name) &&
      listed(`/proc/${name}/fd`).some((descriptor) =>
        sockets.has(attempt(() => readlinkSync(`/proc/${name}/fd/${descriptor}`), '')),
      ),
  )
  return pid ? { pid, name: readText(`/proc/${pid}/comm`).trim() || 'unknown' } : null
}

const LISTENS = '0A'

/** Files of other users or of processes that have ended cannot be read. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
const listed = (folder: string): string[] => attempt(() => readdirSync(folder), [])
const readText = (path: string): string => attempt(() => readFileSync(path, 'utf8'), '')
