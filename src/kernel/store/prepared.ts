import type { Statement as SqliteStatement } from 'bun:sqlite'
import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'

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
export type Prepared = {
  execute(values: Values): Promise<unknown>
  /** SQLite, without result: runs a statement that changes rows once for each. */
  executeEach?(list: readonly Values[]): void
}

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
  const on = (stmt: SqliteStatement): Prepared => {
    if (read) return { execute: (values) => Promise.resolve(stmt.values(...(bind(values) as never[])).map(read)) }
    const run = (values: Values) => stmt.run(...(bind(values) as never[]))
    return {
      execute: (values) => Promise.resolve(run(values)),
      executeEach: (list) => {
        for (const values of list) run(values)
      },
    }
  }
  return { prepared: on(stmt), plan: (compile) => on(compile(query.sql)) }
}

/** A parameter: a constant, or the name of its value with its encoder. */
type Slot = { name: null; constant: unknown } | { name: string; encode: ((value: unknown) => unknown) | null }

function binder(params: unknown[]): (values: Values) => unknown[] {
  const slots = params.map(toSlot)
  // One array for all executions: each passes its values on before the next.
  const bound: unknown[] = new Array(slots.length)
  return (values) => {
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

/** Makes failed reads of a Postgres pool throw the error that `named` returns. */
export function onReadFailure(db: object, named: (error: unknown) => unknown): void {
  const { session } = db as { session: { prepareQuery(...args: unknown[]): Prepared } }
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
