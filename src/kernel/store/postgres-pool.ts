import { systemClock } from '../clock'
import { randomBase62 } from '../crypto'
import { type Client, clientOn, type Line, openLine, transact } from './postgres-line'
import { createWatch, type Standings, silence } from './postgres-watch'

/** How often waits are looked over, while there are any. */
const SWEEP_MS = 100
/** A wait that takes longer is looked into, and again after each such time. */
const LOOK_MS = 500
/** An answer may be on its way while the server says that it has none to give: it is asked once more. */
const AGAIN_MS = 100
/** A new connection may be unknown to the server for as long. */
const OPENING_MS = 1_200
/** A wait for the lock of another session is ended after it. */
const LOCK_MS = 5_000
/** How long a server that did not answer is not asked again. */
const PAUSE_MS = 200

const nothing = () => undefined

type Use = { isShared: boolean; limitMs: number }
type Waiter = { use: Use; resolve(line: Line): void; reject(error: Error): void }
/**
 * The connections to a server. A wait that takes long is looked into, by asking the server on another connection: a
 * statement that it works on may take its time; one that it knows nothing of is on half a connection, which is replaced;
 * and where it does not answer at all, every wait ends and each later call fails until it does. What fails so has the code
 * of a lost connection; whether a commit under way was kept is not known then.
 */
export function createPool(url: string, { max, onSilent }: { max: number; onSilent(): void }) {
  const prefix = `svc ${randomBase62(8)}`
  const watch = createWatch(url, prefix)
  const lines = new Set<Line>()
  const queue: Waiter[] = []
  /** Names of given-up connections whose sessions the server may still have. */
  let orphans: string[] = []
  let made = 0
  let silentSince: number | null = null
  let returning: Promise<void> | null = null
  let isSweeping = false

  return { client, ping: watch.ping, close }

  /** A client for statements that take no longer than `limitMs` each; `isShared` where they are short. */
  function client(use: Use): Client {
    const begin: Client['begin'] = (unit) =>
      onLine({ ...use, isShared: false }, (line) => transact(line, unit, sweepSoon))
    return clientOn((work) => onLine(use, work), begin, sweepSoon)
  }

  async function onLine<T>(use: Use, work: (line: Line) => Promise<T>): Promise<T> {
    if (silentSince !== null) await returned()
    const line =
      (queue.length ? null : taken(use)) ??
      (await new Promise<Line>((resolve, reject) => queue.push({ use, resolve, reject })))
    try {
      return await work(line)
    } finally {
      line.users--
      serve()
    }
  }

  /** One that rests, else a new one, else for short statements one that has few others; null when all are taken. */
  function taken({ isShared, limitMs }: Use): Line | null {
    let best: Line | null = null
    for (const line of lines)
      if (line.users === 0 || (isShared && line.isShared)) best = best && best.users <= line.users ? best : line
    if (best?.users !== 0 && lines.size < max) best = opened()
    if (best) Object.assign(best, { users: best.users + 1, isShared, limitMs })
    return best
  }

  function opened(): Line {
    const line = openLine(url, `${prefix} ${++made}`)
    lines.add(line)
    return line
  }

  function serve(): void {
    for (let next = queue[0]; next; next = queue[0]) {
      const line = taken(next.use)
      if (!line) return
      queue.shift()
      next.resolve(line)
    }
  }

  function sweepSoon(): void {
    if (!isSweeping) systemClock.after(SWEEP_MS, sweep)
    isSweeping = true
  }

  function sweep(): void {
    isSweeping = false
    const waiting = [...lines].filter(({ askedAt }) => askedAt !== null)
    if (!waiting.length) return
    sweepSoon()
    const now = systemClock.monotonic()
    const due = waiting.filter(
      ({ askedAt, lookedAt, isDoubted }) => now - Math.max(askedAt!, lookedAt) >= (isDoubted ? AGAIN_MS : LOOK_MS),
    )
    if (due.length) void lookInto(due, now)
  }

  async function lookInto(due: readonly Line[], now: number): Promise<void> {
    const asked = due.map(({ askedAt }) => askedAt)
    for (const line of due) line.lookedAt = now
    const found = await watch.standings()
    const same = due.filter((line, at) => lines.has(line) && line.askedAt !== null && line.askedAt === asked[at])
    if (!found) {
      if (same.length) fallSilent()
      return
    }
    const lost = same.filter((line) => isLost(line, found))
    const broken = lost.filter(({ isDoubted }) => isDoubted)
    for (const line of lost) line.isDoubted = true
    if (broken.length) dropAll(broken, found)
    for (const line of same) if (isTooLong(line, found)) drop(line)
    await endOrphans()
  }

  /** Whether the server knows nothing of what the line waits for. */
  function isLost({ name, askedAt, answeredAt }: Line, found: Standings): boolean {
    const isNew = answeredAt === null && systemClock.monotonic() - askedAt! < OPENING_MS
    return (found.of(name) ?? (isNew ? 'working' : 'idle')) === 'idle'
  }

  function isTooLong({ name, askedAt, limitMs }: Line, found: Standings): boolean {
    const waited = systemClock.monotonic() - askedAt!
    return waited > limitMs || (waited > LOCK_MS && found.of(name) === 'waiting for a lock')
  }

  /** Whatever broke some connections broke others, too: they are not found out one by one. */
  function dropAll(broken: readonly Line[], found: Standings): void {
    const since = Math.min(...broken.map(({ askedAt }) => askedAt!))
    const isSuspect = ({ name, answeredAt }: Line) =>
      answeredAt !== null && answeredAt < since && found.of(name) !== 'working'
    for (const line of [...broken, ...[...lines].filter(isSuspect)]) drop(line)
    serve()
  }

  /** Gives a connection up: what waits on it fails at once. */
  function drop(line: Line): void {
    if (!lines.delete(line)) return
    orphans.push(line.name)
    for (const end of line.waits) end(silence())
    void line.client.close({ timeout: 0 }).catch(nothing)
  }

  async function endOrphans(): Promise<void> {
    const names = orphans
    orphans = []
    if (names.length) await watch.end(names).catch(nothing)
  }

  function fallSilent(): void {
    silentSince = systemClock.monotonic()
    for (const line of [...lines]) drop(line)
    for (const { reject } of queue.splice(0)) reject(silence())
    onSilent()
  }

  /** Resolves once the server answers again, and rejects when it does not now. */
  function returned(): Promise<void> {
    if (!returning && systemClock.monotonic() - silentSince! < PAUSE_MS) return Promise.reject(silence())
    returning ??= askAgain().finally(() => {
      returning = null
    })
    return returning
  }

  async function askAgain(): Promise<void> {
    try {
      await watch.ping()
      silentSince = null
    } catch (error) {
      silentSince = systemClock.monotonic()
      throw error
    }
    await endOrphans()
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.client.close({ timeout: 2 })))
    await watch.close()
  }
}
