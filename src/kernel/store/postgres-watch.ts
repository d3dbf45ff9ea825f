import type { SQL } from 'bun'
import { systemClock } from '../clock'
import { connect } from './postgres-client'

/** What the server says of a connection that waits for it. */
export type Standing = 'working' | 'waiting for a lock' | 'idle'
export type Standings = { of(name: string): Standing | null }

/**
 * How long the server may take to answer at all, counted in turns: a process that was kept from running has not read an
 * answer that is there, and one late turn counts no more than any other.
 */
const ANSWER_TURNS = 20
const TURN_MS = 50
/** After it a second connection is tried: the first may be a half of one. */
const HEDGE_MS = 150
const CONNECT_S = 1

/** Postgres refuses a connection because it has as many as it may: it is there, and says nothing of the others. */
const isFull = (error: unknown): boolean => (error as { errno?: unknown }).errno === '53300'

const nothing = () => undefined

/**
 * Asks the server, apart from all work, whether it is there and how connections stand that wait for it. What it does not
 * answer in a second, on an old connection or a new one, it does not answer.
 */
export function createWatch(url: string, prefix: string) {
  const opened = () => connect(url, { name: `${prefix} watch`, connectS: CONNECT_S })
  let client = opened()
  let looking: Promise<Standings | null> | null = null
  let isClosed = false

  return { ping, standings, end, close }

  function close(): Promise<void> {
    isClosed = true
    return client.close({ timeout: 0 })
  }

  /** Rejects where the server does not answer. */
  async function asked<T>(question: (client: SQL) => Promise<T>): Promise<T> {
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
    await asked((each) => each`SELECT 1`)
  }

  /** How the connections of this process stand, by name; null where the server does not answer. */
  function standings(): Promise<Standings | null> {
    looking ??= found().finally(() => {
      looking = null
    })
    return looking
  }

  async function found(): Promise<Standings | null> {
    try {
      const rows: [string, string | null, string | null][] = await asked((each) =>
        each`SELECT application_name, state, wait_event_type FROM pg_stat_activity
          WHERE starts_with(application_name, ${prefix})`.values(),
      )
      const byName = new Map(rows.map(([name, state, wait]) => [name, standingOf(state, wait)]))
      return { of: (name) => byName.get(name) ?? null }
    } catch (error) {
      return isFull(error) ? { of: () => 'working' } : null
    }
  }

  /** Ends sessions on the server whose connections were given up here: it may not know yet, and keep their locks. */
  async function end(names: readonly string[]): Promise<void> {
    await asked(
      (each) => each`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = ANY(string_to_array(${names.join()}, ','))`,
    )
  }
}

export const silence = (): Error =>
  Object.assign(new Error('Postgres does not answer'), { code: 'ERR_POSTGRES_CONNECTION_SILENT' })

const standingOf = (state: string | null, wait: string | null): Standing =>
  state?.startsWith('idle') ? 'idle' : wait === 'Lock' ? 'waiting for a lock' : 'working'
