import type { Statement as SqliteStatement } from 'bun:sqlite'
import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'
import type { Tx } from './store'

type Values = Record<string, unknown>
type Decoder = { mapFromDriverValue(value: unknown): unknown }
type Field = { path: string[]; field: unknown }

/*
 * The only file that uses private parts of drizzle. Its public API maps every value of every call again, and has no
 * hook for failed reads. tests/kernel/store-drizzle.test.ts fails when a release changes these parts.
 */

/** A prepared statement of SQLite. */
type Statement = {
  stmt: SqliteStatement
  query: { sql: string; params: unknown[] }
  fields: Field[] | undefined
  customResultMapper: unknown
  execute(values: Values): Promise<unknown>
}

/** An error may be thrown at once or reject. */
export type Prepared = { execute(values: Values): Promise<unknown> }

/** Statements, by the key object of their declaration. */
export type Statements = {
  get(key: object): Prepared | undefined
  set(key: object, statement: Prepared): unknown
  /** SQLite: compiles a statement's text, which was built for another connection. */
  compile?(sql: string): SqliteStatement
}

/** Creates a statement for another SQLite connection. */
export type Plan = (compile: (sql: string) => SqliteStatement) => Prepared

/**
 * Computes the mapping of a statement's parameters and columns once. drizzle does it for every value of every call,
 * which on the hot path costs more than SQLite itself. drizzle still maps joins.
 */
export function planned(statement: unknown): { prepared: Prepared; plan: Plan | null } {
  const { stmt, query, fields, customResultMapper } = statement as Statement
  const simple = !customResultMapper && (fields ?? []).every(({ path }) => path.length === 1)
  if (!simple) return { prepared: statement as Prepared, plan: null }
  const bind = binder(query.params)
  const read = fields ? reader(fields) : null
  const on = (stmt: SqliteStatement): Prepared =>
    read
      ? { execute: (values) => Promise.resolve(stmt.values(...(bind(values) as never[])).map(read)) }
      : { execute: (values) => Promise.resolve(stmt.run(...(bind(values) as never[]))) }
  return { prepared: on(stmt), plan: (compile) => on(compile(query.sql)) }
}

/** A parameter: a constant, or the name of its value with its encoder. */
type Slot = { name: null; constant: unknown } | { name: string; encode: ((value: unknown) => unknown) | null }

function binder(params: unknown[]): (values: Values) => unknown[] {
  const slots = params.map(toSlot)
  return (values) => {
    const bound: unknown[] = new Array(slots.length)
    for (let index = 0; index < bound.length; index++) bound[index] = boundTo(slots[index]!, values)
    return bound
  }
}

function boundTo(slot: Slot, values: Values): unknown {
  if (slot.name === null) return slot.constant
  const value = values[slot.name]
  if (value === undefined) throw new Error(`No value for placeholder "${slot.name}" was provided`)
  return slot.encode === null || value === null ? value : slot.encode(value)
}

function toSlot(param: unknown): Slot {
  if (is(param, Placeholder)) return { name: param.name, encode: null }
  if (!is(param, Param) || !is(param.value, Placeholder)) return { name: null, constant: param }
  const { encoder, value } = param
  // Most columns store values unchanged: numbers and texts.
  const isPlain = encoder.mapToDriverValue === Column.prototype.mapToDriverValue
  return { name: value.name, encode: isPlain ? null : (given) => encoder.mapToDriverValue(given) }
}

function reader(fields: Field[]): (row: unknown[]) => Values {
  const columns = fields.map(({ path, field }) => ({ name: path[0]!, decoder: decoderOf(field) }))
  return (row) => {
    const found: Values = {}
    for (let index = 0; index < columns.length; index++) {
      const { name, decoder } = columns[index]!
      const value = row[index]
      found[name] = value === null ? null : decoder.mapFromDriverValue(value)
    }
    return found
  }
}

function decoderOf(field: unknown): Decoder {
  if (is(field, Column)) return field as Decoder
  if (is(field, SQL)) return (field as unknown as { decoder: Decoder }).decoder
  return (field as { sql: { decoder: Decoder } }).sql.decoder
}

/**
 * Reuses statements built in one transaction on the connection of another, because building costs more than sending. A
 * statement refers to its connection, so a copy replaces only that reference.
 */
export function ofConnection(tx: object, built: Map<object, Prepared>): Statements {
  const { client } = (tx as { session: { client: unknown } }).session
  return {
    get(key) {
      const found = built.get(key)
      return found && Object.create(found, { client: { value: client } })
    },
    set: (key, statement) => built.set(key, statement),
  }
}

type Session = { prepareQuery(...args: unknown[]): Prepared }

/** Makes failed reads of a Postgres pool throw the error that `named` returns. */
export function onReadFailure(db: object, named: (error: unknown) => unknown): void {
  const { session } = db as { session: Session }
  const prepareQuery = session.prepareQuery.bind(session)
  // drizzle runs each read through `prepareQuery` of its session.
  session.prepareQuery = (...args) => {
    const read = prepareQuery(...args)
    const execute = read.execute.bind(read)
    read.execute = (values) =>
      execute(values).catch((error: unknown) => {
        throw named(error)
      })
    return read
  }
}

export type Unit = (tx: Tx) => Promise<unknown>
type Many = (tx: Tx, list: readonly never[]) => Promise<readonly unknown[]>
type Requests = PromiseWithResolvers<readonly unknown[]> & { list: unknown[] }
type Ended = { value: unknown; effects: (() => void)[] }

const ASK = Symbol('ask')

/** A unit that shares a transaction: collects its calls until all units wait. */
type Shared = Tx & { [ASK]?: (many: Many, params: unknown) => Promise<unknown> }

/** A statement for one item, and for a complete list. */
type Gathered<P, R> = {
  (tx: Tx, params: P): Promise<R>
  all(tx: Tx, list: readonly P[]): Promise<readonly R[]>
}

/**
 * A statement with a form for many items. Units that share a transaction (`Store.writeTogether`) run it as one
 * statement. `many` returns one result per list item, in the same order.
 */
export function gathered<P, R>(
  one: (tx: Tx, params: P) => Promise<R>,
  many: (tx: Tx, list: readonly P[]) => Promise<readonly R[]>,
): Gathered<P, R> {
  const ask = (tx: Tx, params: P): Promise<R> => {
    const group = (tx as Shared)[ASK]
    return group ? (group(many as unknown as Many, params) as Promise<R>) : one(tx, params)
  }
  const all = async (tx: Tx, list: readonly P[]): Promise<readonly R[]> =>
    list.length > 1 ? many(tx, list) : list.length ? [await one(tx, list[0]!)] : []
  return Object.assign(ask, { all })
}

/**
 * Runs several units side by side in one transaction, and returns how each ended. Calls of `gathered` statements wait
 * until every unit waits or has ended. Then all are sent together, with `asking`. `effects` collects each unit's effects
 * after the commit.
 */
export function runTogether(
  tx: Tx,
  units: readonly Unit[],
  asking: Tx = tx,
  effects?: (() => void)[][],
): Promise<PromiseSettledResult<unknown>[]> {
  let active = units.length
  let waiting = 0
  let requested = new Map<Many, Requests>()

  function ask(many: Many, params: unknown): Promise<unknown> {
    let those = requested.get(many)
    if (!those) {
      those = Object.assign(Promise.withResolvers<readonly unknown[]>(), { list: [] })
      requested.set(many, those)
    }
    const at = those.list.push(params) - 1
    waiting += 1
    answer()
    return those.promise.then((values) => values[at])
  }

  function answer(): void {
    if (waiting < active || waiting === 0) return
    const questions = requested
    requested = new Map()
    waiting = 0
    for (const [many, { list, resolve, reject }] of questions) many(asking, list as never[]).then(resolve, reject)
  }

  // Waits for all units, because none may continue after the transaction has ended.
  return Promise.allSettled(
    units.map(async (unit, at) => {
      // All units of a transaction have one shape, and none is the prototype of another.
      const shared: Shared = Object.create(tx)
      shared[ASK] = ask
      if (effects) shared.afterCommit = (effect) => void effects[at]!.push(effect)
      try {
        return await unit(shared)
      } finally {
        active -= 1
        answer()
      }
    }),
  )
}

/**
 * Like `runTogether`, and collects the effects that each unit registers for after the commit. If units failed, the
 * transaction must be rolled back: returns their indexes, and the first error.
 */
export async function runShared(
  tx: Tx,
  units: readonly Unit[],
): Promise<{ ends: Ended[]; failed: number[]; reason: unknown }> {
  const effects = units.map((): (() => void)[] => [])
  // Effects of gathered statements cannot be attributed to one unit, so the first unit gets them.
  const asking: Tx = Object.create(tx)
  asking.afterCommit = (effect) => void effects[0]!.push(effect)
  const outcomes = await runTogether(tx, units, asking, effects)
  const ends: Ended[] = []
  const failed: number[] = []
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') failed.push(at)
    else ends.push({ value: outcome.value, effects: effects[at]! })
  }
  const first = outcomes[failed[0] ?? 0]
  return { ends, failed, reason: first?.status === 'rejected' ? first.reason : null }
}
