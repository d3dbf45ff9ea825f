import type { SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import { storageUnavailable } from '../errors'
import { isDiskFull, isSerializationFailure, toAppError } from './errors'
import type { Client } from './postgres-line'
import { createPool } from './postgres-pool'
import { ofConnection, onReadFailure, type Prepared } from './prepared'
import { createKeeping } from './sqlite'
import type { Reader, Store, Tx } from './store'
import { createPostgresWire } from './wire'

type Options = { url: string; maxConnections?: number }

type Unit = (tx: Tx) => Promise<unknown>
type Waiting = { unit: Unit; resolve(value: unknown): void; reject(error: unknown): void }
type Many = (tx: Tx, list: readonly never[]) => Promise<readonly unknown[]>
type Request = { many: Many; params: unknown; resolve(value: unknown): void; reject(error: unknown): void }

/** Units of one transaction at most: each batch ends before the next begins. */
const MAX_TOGETHER = 64
/** What a unit that shares its transaction asks for, until the others have asked, too. */
const groups = new WeakMap<Tx, (many: Many, params: unknown) => Promise<unknown>>()

const ATTEMPTS = 4
/** No request waits longer for its answer. */
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
        // A server that is away is found by asking it, and is back when it answers.
        if (isDiskFull(error)) keeping.lost(error)
        throw toAppError(error)
      }
    }
  }

  /** Units of one kind that come while others are written wait for these and share the next transaction. */
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
      const ends = await persist(async () => {
        const effects = batch.map((): (() => void)[] => [])
        const common: (() => void)[] = []
        const values = await db.transaction(async (tx) => {
          const shared = facade(tx, (effect) => common.push(effect), ofConnection(tx, built))
          const own = (at: number) => ({ afterCommit: (effect: () => void) => void effects[at]!.push(effect) })
          const units = batch.map(({ unit }) => unit)
          const outcomes = await runTogether(shared, units, own)
          failed = new Set(batch.filter((_, at) => outcomes[at]!.status === 'rejected'))
          return outcomes.map((outcome) => {
            if (outcome.status === 'rejected') throw outcome.reason
            return outcome.value
          })
        })
        // Of what several asked for together it is not known whose they are.
        effects[0]!.unshift(...common)
        return values.map((value, at) => ({ value, effects: effects[at]! }))
      })
      for (const [at, { value, effects }] of ends.entries()) {
        try {
          for (const effect of effects) effect()
          batch[at]!.resolve(value)
        } catch (error) {
          batch[at]!.reject(error)
        }
      }
    } catch (error) {
      // After a commit without an answer none is tried again: it may have been kept.
      if (!failed.size) for (const { reject } of batch) reject(error)
      // What failed took the others with it, which can do without it.
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

/** What the pool and a transaction on it have in common. */
type Kit = Pick<BunSQLDatabase, 'select' | 'selectDistinct' | '$count' | 'with' | 'insert' | 'update' | 'delete'>

/** Drizzle's builders of both databases take the same calls; modules see the types of the SQLite ones. */
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

/**
 * A statement with a form for many: units that share a transaction (`Store.writeTogether`) ask for it in one statement.
 * `many` returns a result for each of its list, in that order.
 */
export function gathered<P, R>(
  one: (tx: Tx, params: P) => Promise<R>,
  many: (tx: Tx, list: readonly P[]) => Promise<readonly R[]>,
): (tx: Tx, params: P) => Promise<R> {
  return (tx, params) => {
    const ask = groups.get(tx)
    return ask ? (ask(many as unknown as Many, params) as Promise<R>) : one(tx, params)
  }
}

/**
 * Runs several units in one transaction, next to each other, and returns how each ended. What they ask of `gathered`
 * statements waits until each of them waits or has ended; then it is asked at once for all.
 */
export function runTogether(
  tx: Tx,
  units: readonly Unit[],
  own: (at: number) => Partial<Tx> = () => ({}),
): Promise<PromiseSettledResult<unknown>[]> {
  let active = units.length
  let requests: Request[] = []

  function ask(many: Many, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      requests.push({ many, params, resolve, reject })
      answer()
    })
  }

  function answer(): void {
    if (requests.length < active) return
    const requested = Map.groupBy(requests, ({ many }) => many)
    requests = []
    for (const [many, list] of requested) {
      const answers = many(tx, list.map(({ params }) => params) as never[])
      answers.then(
        (values) => {
          for (const [at, { resolve }] of list.entries()) resolve(values[at])
        },
        (error) => {
          for (const { reject } of list) reject(error)
        },
      )
    }
  }

  // All of them end, since none may go on in a transaction that is over.
  return Promise.allSettled(
    units.map(async (unit, at) => {
      const shared: Tx = Object.assign(Object.create(tx), own(at))
      groups.set(shared, ask)
      try {
        return await unit(shared)
      } finally {
        active -= 1
        answer()
      }
    }),
  )
}
