import type { SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import { storageUnavailable } from '../errors'
import { isDiskFull, isSerializationFailure, toAppError } from './errors'
import type { Client } from './postgres-line'
import { createPool } from './postgres-pool'
import { ofConnection, onReadFailure, type Prepared } from './prepared'
import { createStorageHealth } from './sqlite'
import type { Reader, Store, Tx, WriteAll } from './store'
import { createPostgresWire } from './wire'

type Waiting = { item: unknown; resolve(value: unknown): void; reject(error: unknown): void }
type Line = (item: unknown) => Promise<unknown>

/** Maximum items per transaction. Each batch ends before the next begins. */
const MAX_TOGETHER = 64

const ATTEMPTS = 4
/** No request waits longer than this for its answer. */
const STATEMENT_MS = 30_000
const LONG_STATEMENT_MS = 30 * 60_000

/** Opens a connection pool. A unit of work is a transaction on one connection, retried when it loses a conflict. */
export function openPostgres({ url, maxConnections = 8 }: { url: string; maxConnections?: number }): Store {
  const connections = createPool(url, { max: maxConnections, onSilent: () => drop() })
  const client = connections.client({ isShared: true, limitMs: STATEMENT_MS })
  const [db, longDb] = [over(client), over(connections.client({ isShared: false, limitMs: LONG_STATEMENT_MS }))]
  const { wire, changes, drop } = createPostgresWire(url, client)
  const keeping = createStorageHealth()
  const built = new Map<object, Prepared>()

  const attempt = async <T>(unit: (tx: Tx) => Promise<T>): Promise<T> => {
    const effects: (() => void)[] = []
    const value = await db.transaction((tx) =>
      unit(facade(tx, (effect) => effects.push(effect), ofConnection(tx, built))),
    )
    for (const effect of effects) effect()
    return value
  }

  const write = <T>(unit: (tx: Tx) => Promise<T>): Promise<T> => persist(() => attempt(unit))

  const persist = async <T>(attempted: () => Promise<T>): Promise<T> => {
    for (let tried = 1; ; tried++) {
      try {
        const value = await attempted()
        keeping.kept()
        return value
      } catch (error) {
        if (tried < ATTEMPTS && isSerializationFailure(error)) continue
        // Only a full disk counts as failing storage. Whether the server is reachable is found by asking it.
        if (isDiskFull(error)) keeping.lost(error)
        throw toAppError(error)
      }
    }
  }

  const lines = new WeakMap<WriteAll<never, unknown>, Line>()

  /** Queue for the items of one function. Those that arrive while others are written share the next transaction. */
  const createLine = (all: WriteAll<unknown, unknown>): Line => {
    const waiting: Waiting[] = []
    let isWriting = false
    const writeAll = async () => {
      isWriting = true
      await new Promise((resolve) => setImmediate(resolve))
      while (waiting.length) await writeBatch(all, waiting.splice(0, MAX_TOGETHER))
      isWriting = false
    }
    return (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting.push({ item, resolve, reject })
      if (!isWriting) void writeAll()
      return promise
    }
  }

  const writeBatch = async (all: WriteAll<unknown, unknown>, batch: readonly Waiting[]): Promise<void> => {
    let hasRun = false
    const items = batch.map(({ item }) => item)
    try {
      const values = await write(async (tx) => {
        hasRun = false
        const written = await all(tx, items)
        hasRun = true
        return written
      })
      for (const [at, { resolve }] of batch.entries()) resolve(values[at])
    } catch (error) {
      // A commit without an answer may have been kept, so its items are not written again.
      if (hasRun || batch.length < 2) for (const { reject } of batch) reject(error)
      else await Promise.all(batch.map((waiting) => writeBatch(all, [waiting])))
    }
  }

  const writeTogether = <T, R>(all: WriteAll<T, R>, item: T): Promise<R> => {
    const known = lines.get(all) ?? createLine(all as WriteAll<unknown, unknown>)
    lines.set(all, known)
    return known(item) as Promise<R>
  }

  const pool = facade(db, noEffects, new Map())
  return {
    dialect: 'postgres',
    wire,
    changes,
    read: pool,
    readLong: facade(longDb, noEffects, new Map()),
    write,
    writeSoon: write,
    writeTogether,
    writeOne: (unit) => persist(() => unit(pool)),
    confirm: async () => {
      const [found] = await client.rows('SHOW transaction_read_only').catch((error: unknown) => {
        throw toAppError(error)
      })
      if (found![0] === 'on') throw storageUnavailable.with({ retryAfterS: 2 })
    },
    failing: keeping.failing,
    ping: connections.ping,
    integrity: async () => [],
    backup: async () => {
      throw new Error('back up Postgres with pg_dump')
    },
    close: async () => {
      drop()
      await connections.close()
    },
  }
}

function over(client: Client): BunSQLDatabase {
  const db = drizzle({ client: client as unknown as SQL })
  onReadFailure(db, toAppError)
  return db
}

function noEffects(): never {
  throw new Error('effects after a commit need a transaction: use write')
}

/** The common functions of the pool and of a transaction. */
type Kit = Pick<BunSQLDatabase, 'select' | 'selectDistinct' | '$count' | 'with' | 'insert' | 'update' | 'delete'>

/** Drizzle's builders of both databases accept the same calls. Modules see the types of the SQLite builders. */
function facade(db: Kit, afterCommit: (effect: () => void) => void, prepared: Reader['prepared']): Tx {
  return {
    dialect: 'postgres',
    prepared,
    of: (table: { postgres: unknown }) => table.postgres,
    select: db.select.bind(db),
    selectDistinct: db.selectDistinct.bind(db),
    $count: db.$count.bind(db),
    with: db.with.bind(db),
    insert: db.insert.bind(db),
    update: db.update.bind(db),
    delete: db.delete.bind(db),
    afterCommit,
  } as unknown as Tx
}
