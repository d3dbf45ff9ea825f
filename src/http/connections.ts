import { readdirSync, statSync } from 'node:fs'
import type { Server } from 'bun'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import type { Log } from '../kernel/log'
import { untilBeat } from '../kernel/loop'
import type { Accepted, SocketTable } from './socket-table'

/** Counts an open request of an address until the returned function is called. Throws 503 `service_unavailable`. */
export type EnterRequest = (address: string) => () => void

/** Interval for counting the open descriptors, which costs next to nothing. */
const COUNT_MS = 100
/** Interval while few are open and their number does not change, so that a sleeping server wakes less. */
const CALM_MS = 1_000
/** Connections are examined when this many more descriptors are open, and otherwise once per LOOK_MS. */
const MORE = 64
const LOOK_MS = 1_000
/** Maximum connections to end in one go before a pause. */
const AT_ONCE = 200
const PAUSE_MS = 20
/** Descriptors that connections never get. They are for the database, engines, the operator socket and new requests. */
const RESERVE = 1_024

type Deps = {
  clock: Clock
  log: Log
  limits: { perAddress: number; total: number }
  /** True if an address is one of the operator's own proxies, which many clients share. */
  isProxy(address: string): boolean
}

export type Connections = ReturnType<typeof createConnections>

/**
 * Limits connections that have not authenticated: `perAddress` per address, and `total` overall, but never the last
 * descriptors. Closes the longest open ones first, because an honest request is soon over (docs/attacks.md C19).
 */
export function createConnections({ clock, log, limits, isProxy }: Deps) {
  /** Connections that have authenticated, as `address port`. */
  let authenticated = new Set<string>()
  let seen = new Set<string>()
  let watched: SocketTable | null = null

  /** The connections above the limits, in the order in which to end them. */
  function look(table: SocketTable): Accepted[] {
    const [present, known] = [new Set<string>(), new Set<string>()]
    const byAddress = new Map<string, Accepted[]>()
    const all: Accepted[] = []
    table.each((connection) => {
      const { address, network } = connection
      const name = nameOf(address, connection.port)
      present.add(name)
      if (authenticated.has(name)) return void known.add(name)
      all.push(connection)
      if (isProxy(address)) return
      byAddress.getOrInsertComputed(network, () => []).push(connection)
    })
    const closing = new Set<Accepted>()
    const close = (some: Accepted[], keep: number) => {
      if (some.length <= keep) return
      const isOld = (connection: Accepted) => seen.has(nameOf(connection.address, connection.port))
      const oldFirst = [...some.filter(isOld), ...some.filter((connection) => !isOld(connection))]
      for (const connection of oldFirst.slice(0, some.length - Math.max(keep, 0))) closing.add(connection)
    }
    for (const some of byAddress.values()) close(some, limits.perAddress)
    const room = table.limit - Math.min(RESERVE, table.limit / 4) - known.size
    const left = all.filter((connection) => !closing.has(connection))
    close(left, Math.floor(Math.min(limits.total, room)))
    if (closing.size) log.warn({ closing: closing.size, open: present.size }, 'too many connections')
    seen = present
    authenticated = known
    return [...closing]
  }

  return {
    /** Exempts the connection of an authenticated request, whose caller has limits of its own. */
    authenticated(request: Request, server: Server<unknown> | null): void {
      if (!watched) return
      const peer = server?.requestIP(request)
      if (peer) authenticated.add(nameOf(peer.address, peer.port))
    },
    /** Monitors the connections in `table` until the returned function is called. */
    watch(table: SocketTable): () => void {
      watched = table
      const quiet = Math.min(limits.perAddress, limits.total) / 2
      let [lastCount, lookedAt, ending] = [0, clock.monotonic(), [] as Accepted[]]
      let [before, everyMs] = [0, COUNT_MS]
      const tick = () => {
        const now = clock.monotonic()
        // Ending a connection takes as long as a small request. So the rest are ended later, after waiting requests got
        // their turn.
        if (ending.length) for (const connection of ending.splice(0, AT_ONCE)) table.end(connection)
        else {
          const count = openDescriptors()
          everyMs = count === before && count <= quiet ? Math.min(everyMs * 2, CALM_MS) : COUNT_MS
          before = count
          const isDue = now - lookedAt >= LOOK_MS || count - lastCount >= MORE
          if (count < lastCount) lastCount = count
          // With few descriptors, the only task is to forget closed connections from time to time.
          if (isDue && (count > quiet || authenticated.size > 4 * quiet)) {
            ending = look(table)
            lastCount = count
            lookedAt = clock.monotonic()
          }
        }
        const restMs = ending.length ? PAUSE_MS : untilBeat(clock, everyMs)
        cancel = clock.after(Math.max(restMs, clock.monotonic() - now), tick)
      }
      let cancel = clock.after(COUNT_MS, tick)
      return () => {
        cancel()
        watched = null
      }
    },
  }
}

const nameOf = (address: string, port: number): string =>
  `${address.startsWith('::ffff:') ? address.slice(7) : address} ${port}`

const DESCRIPTORS = process.platform === 'darwin' ? '/dev/fd' : '/proc/self/fd'

/** Since Linux 6.2, the size of the folder is the number. On other systems, the folder is listed. */
function openDescriptors(): number {
  try {
    return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length
  } catch {
    // No descriptor is left to read the folder with, so the number is far too high.
    return Number.MAX_SAFE_INTEGER
  }
}

/**
 * Limits the open requests per address before they authenticate. Needed only behind proxies, where one connection
 * serves many clients. Elsewhere an address has no more requests than connections.
 */
export function createOpenRequests(perAddress: number): EnterRequest {
  const open = new Map<string, number>()
  return (address) => {
    const count = open.get(address) ?? 0
    if (count >= perAddress)
      throw new AppError(
        'service_unavailable',
        `This address has ${perAddress} requests open already, the most before they authenticate. Try again in a second.`,
        { retryAfterS: 1 },
      )
    open.set(address, count + 1)
    return () => {
      const left = (open.get(address) ?? 1) - 1
      if (left) open.set(address, left)
      else open.delete(address)
    }
  }
}
