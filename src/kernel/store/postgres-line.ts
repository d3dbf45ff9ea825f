import { SQL } from 'bun'
import { systemClock } from '../clock'

/** How long to wait for a server that does not answer, in seconds. */
const CONNECT_S = 5

type ConnectOptions = {
  /** By which the server knows the connection: `application_name`. */
  name?: string
  /** How long it may take to open, in seconds. */
  connectS?: number
}

/** A client with one connection, which is opened with the first use. */
export const connect = (url: string, { name, connectS = CONNECT_S }: ConnectOptions = {}): SQL =>
  new SQL(url, { max: 1, connectionTimeout: connectS, ...(name && { connection: { application_name: name } }) })

/** A connection of a pool. Several short statements may be under way on it, or one transaction and nothing else. */
export type Line = {
  client: SQL
  name: string
  users: number
  isShared: boolean
  limitMs: number
  /** Ends each of its waits. */
  waits: Set<(error: Error) => void>
  /** Since when it waits for the next answer; null while it waits for none. */
  askedAt: number | null
  /** When it last had an answer; null until it has. */
  answeredAt: number | null
  lookedAt: number
  isDoubted: boolean
}

type Statement = PromiseLike<unknown> & { values(): PromiseLike<unknown> }
/** What drizzle uses of a client, and `rows` for statements of the store's own. */
export type Client = {
  unsafe(text: string, values?: unknown[]): Statement
  rows(text: string, values?: unknown[]): Promise<unknown[][]>
  begin<T>(unit: (client: Client) => Promise<T>): Promise<T>
}
type Begin = Client['begin']
type OnLine = <T>(work: (line: Line) => Promise<T>) => Promise<T>

export const openLine = (url: string, name: string): Line => ({
  client: connect(url, { name }),
  name,
  users: 0,
  isShared: false,
  limitMs: 0,
  waits: new Set(),
  askedAt: null,
  answeredAt: null,
  lookedAt: 0,
  isDoubted: false,
})

/**
 * A client whose statements each run on the line that `onLine` finds; `asking` is called whenever one is sent. What
 * only reads is asked once more where its line is lost: the next may be whole, and nothing is done twice.
 */
export function clientOn(onLine: OnLine, begin: Begin, request: () => void): Client {
  const ask = (rows: boolean, text: string, values?: unknown[]) => {
    const once = () => onLine((line) => track(line, () => sent(line.client, rows, text, values), request))
    return text.startsWith(READS) ? once().catch((error) => againIf(isLost(error), error, once)) : once()
  }
  return clientOf(ask, begin)
}

/** As the builder of queries writes it. */
const READS = 'select '

/** Whether the connection ended, or was given up, before the answer came. */
const isLost = (error: unknown): boolean => {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return /^ERR_POSTGRES_CONNECTION_(SILENT|CLOSED)$/.test(String(code)) || errno === '57P01'
}

function againIf<T>(may: boolean, error: unknown, work: () => Promise<T>): Promise<T> {
  return may ? work() : Promise.reject(error)
}

/** A transaction that never began, because its line was lost, begins on another: nothing of it was done. */
export function beginOn(onLine: OnLine, request: () => void): Begin {
  return <T>(unit: (client: Client) => Promise<T>): Promise<T> => {
    let hasBegun = false
    const noted = (client: Client) => {
      hasBegun = true
      return unit(client)
    }
    const once = () => onLine((line) => transact(line, noted, request))
    return once().catch((error) => againIf(!hasBegun && isLost(error), error, once))
  }
}

/** Runs a transaction on one line, with each wait for the server tracked. */
async function transact<T>(line: Line, unit: (client: Client) => Promise<T>, request: () => void): Promise<T> {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const whole = line.client.begin(async (tx) => {
    begun.resolve()
    const ask = (rows: boolean, text: string, values?: unknown[]) =>
      track(line, () => sent(tx, rows, text, values), request)
    try {
      return await unit(clientOf(ask, () => Promise.reject(new Error('a transaction has no transaction within it'))))
    } finally {
      ended.resolve()
    }
  }) as Promise<T>
  const failed = whole.then(nothing, nothing)
  await track(line, () => Promise.race([begun.promise, failed]), request)
  await Promise.race([ended.promise, failed])
  return track(line, () => whole, request)
}

/** Waits for an answer on a line, until the line is given up. */
async function track<T>(line: Line, work: () => PromiseLike<T>, request: () => void): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  line.askedAt ??= systemClock.monotonic()
  line.waits.add(reject)
  request()
  work().then(resolve, reject)
  try {
    const answer = await promise
    line.answeredAt = systemClock.monotonic()
    return answer
  } finally {
    line.waits.delete(reject)
    line.askedAt = line.waits.size ? systemClock.monotonic() : null
    line.isDoubted = false
  }
}

/** Like Bun's own, a statement runs when it is awaited: for objects, or with `values` for rows of columns. */
function clientOf(ask: (rows: boolean, text: string, values?: unknown[]) => Promise<unknown>, begin: Begin): Client {
  return {
    unsafe: (text, values) => ({
      // biome-ignore lint/suspicious/noThenProperty: drizzle awaits it
      then: (resolve, reject) => ask(false, text, values).then(resolve, reject),
      values: () => ask(true, text, values),
    }),
    rows: (text, values) => ask(true, text, values) as Promise<unknown[][]>,
    begin,
  }
}

function sent(on: SQL, rows: boolean, text: string, values?: unknown[]): PromiseLike<unknown> {
  const statement = on.unsafe(text, values)
  return rows ? statement.values() : statement
}

const nothing = () => undefined
