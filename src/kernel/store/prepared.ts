import type { Statement as SqliteStatement } from 'bun:sqlite'
import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'
import type { Tx } from './store'

type Values = Record<string, unknown>
type Decoder = { mapFromDriverValue(value: unknown): unknown }
type Field = { path: string[]; field: unknown }

/*
 * The one file that reads private parts of drizzle: its public API maps every value of every call again, and has no hook
 * for failures of reads. tests/kernel/store-drizzle.test.ts fails when a release changes these parts.
 */

/** A prepared statement of SQLite. */
type Statement = {
  stmt: SqliteStatement
  query: { sql: string; params: unknown[] }
  fields: Field[] | undefined
  customResultMapper: unknown
  execute(values: Values): Promise<unknown>
}

/** What fails may be thrown at once or reject. */
export type Prepared = { execute(values: Values): Promise<unknown> }

/** Statements by what declares them. */
export type Statements = {
  get(key: object): Prepared | undefined
  set(key: object, statement: Prepared): unknown
  /** SQLite: compiles a text that was built for another connection. */
  compile?(sql: string): SqliteStatement
}

/** Makes a statement for another connection of SQLite. */
export type Plan = (compile: (sql: string) => SqliteStatement) => Prepared

/**
 * Computes the mapping of a statement's parameters and columns once. drizzle does it for every value of every call,
 * which on the hot path costs more than SQLite itself. Joins are still mapped by drizzle.
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

/** A parameter: a constant, or the name of its value and what encodes it. */
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
  // Most columns take values as they are: numbers and texts.
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
 * What was built in one transaction, for the connection of another: building costs more than what is sent. Each keeps
 * the connection that it runs on, so that is replaced and the rest is the same.
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

/** Reads of a Postgres pool fail with the error that `named` makes, wherever they are caught. */
export function onReadFailure(db: object, named: (error: unknown) => unknown): void {
  const { session } = db as { session: Session }
  const prepareQuery = session.prepareQuery.bind(session)
  // drizzle runs each read by `prepareQuery` of its session.
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
type Requests = { list: unknown[]; settle: PromiseWithResolvers<unknown>[] }
type Ended = { value: unknown; effects: (() => void)[] }

/** What a unit that shares its transaction asks for, until the others have asked, too. */
const groups = new WeakMap<Tx, (many: Many, params: unknown) => Promise<unknown>>()

/** A statement as it is asked for once, and for a list that is known already. */
type Gathered<P, R> = {
  (tx: Tx, params: P): Promise<R>
  all(tx: Tx, list: readonly P[]): Promise<readonly R[]>
}

/**
 * A statement with a form for many: units that share a transaction (`Store.writeTogether`) ask for it in one statement.
 * `many` returns a result for each of its list, in that order.
 */
export function gathered<P, R>(
  one: (tx: Tx, params: P) => Promise<R>,
  many: (tx: Tx, list: readonly P[]) => Promise<readonly R[]>,
): Gathered<P, R> {
  const ask = (tx: Tx, params: P): Promise<R> => {
    const group = groups.get(tx)
    return group ? (group(many as unknown as Many, params) as Promise<R>) : one(tx, params)
  }
  const all = async (tx: Tx, list: readonly P[]): Promise<readonly R[]> =>
    list.length > 1 ? many(tx, list) : list.length ? [await one(tx, list[0]!)] : []
  return Object.assign(ask, { all })
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
  let waiting = 0
  let requested = new Map<Many, Requests>()

  function ask(many: Many, params: unknown): Promise<unknown> {
    const settle = Promise.withResolvers<unknown>()
    const those = requested.get(many)
    if (those) {
      those.list.push(params)
      those.settle.push(settle)
    } else requested.set(many, { list: [params], settle: [settle] })
    waiting += 1
    answer()
    return settle.promise
  }

  function answer(): void {
    if (waiting < active || waiting === 0) return
    const questions = requested
    requested = new Map()
    waiting = 0
    for (const [many, { list, settle }] of questions) {
      many(tx, list as never[]).then(
        (values) => {
          for (const [at, { resolve }] of settle.entries()) resolve(values[at])
        },
        (error) => {
          for (const { reject } of settle) reject(error)
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

/**
 * The same with what each wants to happen after the commit. Where some failed, the transaction has to be undone: the
 * places of these, and the reason of the first.
 */
export async function runShared(
  tx: Tx,
  units: readonly Unit[],
): Promise<{ ends: Ended[]; failed: number[]; reason: unknown }> {
  const effects = units.map((): (() => void)[] => [])
  // Of what several asked for together it is not known whose it is.
  const shared: Tx = Object.assign(Object.create(tx), { afterCommit: (effect: () => void) => effects[0]!.push(effect) })
  const outcomes = await runTogether(shared, units, (at) => ({
    afterCommit: (effect) => void effects[at]!.push(effect),
  }))
  const ends: Ended[] = []
  const failed: number[] = []
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') failed.push(at)
    else ends.push({ value: outcome.value, effects: effects[at]! })
  }
  const first = outcomes[failed[0] ?? 0]
  return { ends, failed, reason: first?.status === 'rejected' ? first.reason : null }
}
