import type { SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import { storageUnavailable } from '../errors'
import { isDiskFull, isSerializationFailure, toAppError } from './errors'
import type { Client } from './postgres-line'
import { createPool } from './postgres-pool'
import { ofConnection, onReadFailure, type Prepared, runShared, type Unit } from './prepared'
import { createKeeping } from './sqlite'
import type { Reader, Store, Tx } from './store'
import { createPostgresWire } from './wire'

type Options = { url: string; maxConnections?: number }

type Waiting = { unit: Unit; resolve(value: unknown): void; reject(error: unknown): void }

/** Maximum units per transaction. Each batch ends before the next begins. */
const MAX_TOGETHER = 64

const ATTEMPTS = 4
/** No request waits longer than this for its answer. */
const STATEMENT_MS = 30_000
const LONG_STATEMENT_MS = 30 * 60_000

/** Opens a connection pool. A unit of work is a transaction on one connection, retried when it loses a conflict. */
export function openPostgres({ url, maxConnections = 8 }: Options): Store {
  const connections = createPool(url, { max: maxConnections, onSilent: () => drop() })
  const client = connections.client({ isShared: true, limitMs: STATEMENT_MS })
  const [db, longDb] = [over(client), over(connections.client({ isShared: false, limitMs: LONG_STATEMENT_MS }))]
  const { wire, changes, drop } = createPostgresWire(url, client)
  const keeping = createKeeping()
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

  /** Queue for units of one kind. Units that arrive while others are written share the next transaction. */
  const createLine = () => {
    const waiting: Waiting[] = []
    let isWriting = false
    const writeAll = async () => {
      isWriting = true
      await new Promise((resolve) => setImmediate(resolve))
      while (waiting.length) await writeBatch(waiting.splice(0, MAX_TOGETHER))
      isWriting = false
    }
    return <T>(unit: (tx: Tx) => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ unit, resolve: resolve as Waiting['resolve'], reject })
        if (!isWriting) void writeAll()
      })
  }

  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const alone = (units: readonly Waiting[]) =>
      Promise.all(units.map(({ unit, resolve, reject }) => write(unit).then(resolve, reject)))
    if (batch.length < 2) return void (await alone(batch))
    let failed = new Set<Waiting>()
    try {
      const ends = await persist(() =>
        db.transaction(async (tx) => {
          const shared = facade(tx, noEffects, ofConnection(tx, built))
          const units = batch.map(({ unit }) => unit)
          const outcome = await runShared(shared, units)
          failed = new Set(outcome.failed.map((at) => batch[at]!))
          if (failed.size) throw outcome.reason
          return outcome.ends
        }),
      )
      for (const [at, { value, effects }] of ends.entries()) {
        try {
          for (const effect of effects) effect()
          batch[at]!.resolve(value)
        } catch (error) {
          batch[at]!.reject(error)
        }
      }
    } catch (error) {
      // A commit without an answer may have been kept, so its units are not tried again.
      if (!failed.size) for (const { reject } of batch) reject(error)
      // Failed units run again alone, and the other units again without them.
      else await Promise.all([alone([...failed]), writeBatch(batch.filter((waiting) => !failed.has(waiting)))])
    }
  }

  const pool = facade(db, noEffects, new Map())
  const [writeSoonTogether, writeTogether] = [createLine(), createLine()]
  return {
    dialect: 'postgres',
    wire,
    changes,
    read: pool,
    readLong: facade(longDb, noEffects, new Map()),
    write,
    writeSoon: (unit, isAlone = true) => (isAlone ? write(unit) : writeSoonTogether(unit)),
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
