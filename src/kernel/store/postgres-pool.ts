import type { SQL } from 'bun'
import { systemClock } from '../clock'
import { randomBase62 } from '../crypto'
import { beginOn, type Client, clientOn, connect, type Line, openLine } from './postgres-line'

/** The server's view of a connection that waits for it. */
type ConnectionState = 'working' | 'waiting for a lock' | 'idle'

type ConnectionStates = { of(name: string): ConnectionState | null }

/**
 * Maximum wait for any answer of the server, counted in turns. A process that was suspended has not yet read an answer
 * that arrived, so one late turn counts no more than any other.
 */
const ANSWER_TURNS = 20

const TURN_MS = 50

/** Delay before a second connection is tried, because the first may be half open. */
const HEDGE_MS = 150

const CONNECT_S = 1

const silence = (): Error =>
  Object.assign(new Error('Postgres does not answer'), { code: 'ERR_POSTGRES_CONNECTION_SILENT' })

/** Interval for checking waits, while there are any. */
const SWEEP_MS = 100
/** A wait longer than this is investigated, and again after each such time. */
const INVESTIGATE_AFTER_MS = 500
/** Delay before a second check, because an answer may be in transit while the server reports the connection as idle. */
const RECHECK_MS = 100
/** The server may not know a new connection for this long. */
const OPENING_MS = 1_200
/** Maximum wait for the lock of another session. */
const LOCK_MS = 5_000
/** Pause before a server that did not answer is contacted again. */
const PAUSE_MS = 200

const nothing = () => undefined

type Use = { isShared: boolean; limitMs: number }
type Waiter = { use: Use; resolve(line: Line): void; reject(error: Error): void }
/**
 * The connections to a server. A long wait is investigated by asking the server over another connection. A statement
 * that the server works on may continue. If the server does not know the statement, its connection is half open and is
 * replaced. If the server does not answer, all waits end and later calls fail until it does. These failures have the
 * code of a lost connection. It is then unknown whether a commit in progress was kept.
 */
export function createPool(url: string, { max, onSilent }: { max: number; onSilent(): void }) {
  const prefix = `svc ${randomBase62(8)}`
  const watch = createWatch(url, prefix)
  const lines = new Set<Line>()
  const queue: Waiter[] = []
  /** Names of dropped connections whose sessions the server may still have. */
  let orphans: string[] = []
  let made = 0
  let silentSince: number | null = null
  let returning: Promise<void> | null = null
  let isSweeping = false

  return { client, ping: watch.ping, close }

  /** A client for statements that take no longer than `limitMs` each. Set `isShared` for short statements. */
  function client(use: Use): Client {
    const begin = beginOn((work) => onLine({ ...use, isShared: false }, work), sweepSoon)
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

  /** Finds an idle line, else opens one, else for short statements shares the least used. Null when all are taken. */
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
    const waiting = [...lines].filter(({ requestedAt }) => requestedAt !== null)
    if (!waiting.length) return
    sweepSoon()
    const now = systemClock.monotonic()
    const due = waiting.filter(
      ({ requestedAt, lookedAt, isDoubted }) =>
        now - Math.max(requestedAt!, lookedAt) >= (isDoubted ? RECHECK_MS : INVESTIGATE_AFTER_MS),
    )
    if (due.length) void investigate(due, now)
  }

  async function investigate(due: readonly Line[], now: number): Promise<void> {
    const requestTimes = due.map(({ requestedAt }) => requestedAt)
    for (const line of due) line.lookedAt = now
    const states = await watch.standings()
    const stillWaiting = due.filter(
      (line, at) => lines.has(line) && line.requestedAt !== null && line.requestedAt === requestTimes[at],
    )
    if (!states) {
      if (stillWaiting.length) {
        silentSince = systemClock.monotonic()
        for (const line of [...lines]) drop(line)
        for (const { reject } of queue.splice(0)) reject(silence())
        onSilent()
      }
      return
    }
    const lost = stillWaiting.filter((line) => isLost(line, states))
    const broken = lost.filter(({ isDoubted }) => isDoubted)
    for (const line of lost) line.isDoubted = true
    if (broken.length) dropAll(broken, states)
    for (const line of stillWaiting) if (isTooLong(line, states)) drop(line)
    await endOrphans()
  }

  /** True if the server does not know the statement that the line waits for. */
  function isLost({ name, requestedAt, answeredAt }: Line, states: ConnectionStates): boolean {
    const isNew = answeredAt === null && systemClock.monotonic() - requestedAt! < OPENING_MS
    return (states.of(name) ?? (isNew ? 'working' : 'idle')) === 'idle'
  }

  function isTooLong({ name, requestedAt, limitMs }: Line, states: ConnectionStates): boolean {
    const waited = systemClock.monotonic() - requestedAt!
    return waited > limitMs || (waited > LOCK_MS && states.of(name) === 'waiting for a lock')
  }

  /** Whatever broke some connections probably broke others too. So this drops all suspects at once. */
  function dropAll(broken: readonly Line[], states: ConnectionStates): void {
    const since = Math.min(...broken.map(({ requestedAt }) => requestedAt!))
    const isSuspect = ({ name, answeredAt }: Line) =>
      answeredAt !== null && answeredAt < since && states.of(name) !== 'working'
    for (const line of [...broken, ...[...lines].filter(isSuspect)]) drop(line)
    serve()
  }

  /** Drops a connection. Its pending waits fail at once. */
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

  /** Resolves when the server answers again, and rejects if it does not answer now. */
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

/**
 * A separate connection that asks the server whether it answers, and about the state of waiting connections. A question
 * without an answer within a second, over an old or a new connection, counts as unanswered.
 */
function createWatch(url: string, prefix: string) {
  const opened = () => connect(url, { name: `${prefix} watch`, connectS: CONNECT_S })
  let client = opened()
  let reading: Promise<ConnectionStates | null> | null = null
  let isClosed = false

  return { ping, standings: connectionStates, end, close }

  function close(): Promise<void> {
    isClosed = true
    return client.close({ timeout: 0 })
  }

  /** Rejects when the server does not answer. */
  async function request<T>(question: (client: SQL) => Promise<T>): Promise<T> {
    if (isClosed) throw silence()
    const over = new AbortController()
    const mine = client
    const other = opened()
    const late = async () => {
      await systemClock.sleep(HEDGE_MS, over.signal)
      if (over.signal.aborted) return Promise.reject(new Error('it is answered'))
      const answer = await question(other)
      // Another question may have replaced it already.
      if (client === mine) client = other
      return answer
    }
    const never = async (): Promise<never> => {
      for (let turn = 0; turn < ANSWER_TURNS && !over.signal.aborted; turn++)
        await systemClock.sleep(TURN_MS, over.signal)
      throw silence()
    }
    try {
      return await Promise.race([Promise.any([question(mine), late()]), never()])
    } catch (error) {
      if (client === mine) client = opened()
      throw error instanceof AggregateError ? error.errors[0] : error
    } finally {
      over.abort()
      if (client !== mine) void mine.close({ timeout: 0 }).catch(nothing)
      if (client !== other) void other.close({ timeout: 0 }).catch(nothing)
    }
  }

  async function ping(): Promise<void> {
    await request((each) => each`SELECT 1`)
  }

  /** State of this process's connections, by name. Null when the server does not answer. */
  function connectionStates(): Promise<ConnectionStates | null> {
    reading ??= readConnectionStates().finally(() => {
      reading = null
    })
    return reading
  }

  async function readConnectionStates(): Promise<ConnectionStates | null> {
    try {
      const rows: [string, string | null, string | null][] = await request((each) =>
        each`SELECT application_name, state, wait_event_type FROM pg_stat_activity
          WHERE starts_with(application_name, ${prefix})`.values(),
      )
      const byName = new Map<string, ConnectionState>(
        rows.map(([name, state, wait]) => [
          name,
          state?.startsWith('idle') ? 'idle' : wait === 'Lock' ? 'waiting for a lock' : 'working',
        ]),
      )
      return { of: (name) => byName.get(name) ?? null }
    } catch (error) {
      // Postgres rejects connections above its maximum. So it is reachable, but the state of the others is unknown.
      return (error as { errno?: unknown }).errno === '53300' ? { of: () => 'working' } : null
    }
  }

  /** Ends the server's sessions of dropped connections. The server may not know yet, and would keep their locks. */
  async function end(names: readonly string[]): Promise<void> {
    await request(
      (each) => each`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = ANY(string_to_array(${names.join()}, ','))`,
    )
  }
}
