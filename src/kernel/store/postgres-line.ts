import { SQL } from 'bun'
import { systemClock } from '../clock'

/** Timeout of opening a connection to the server, in seconds. */
const CONNECT_S = 5

type ConnectOptions = {
  /** Name of the connection on the server: `application_name`. */
  name?: string
  /** Timeout of opening, in seconds. */
  connectS?: number
}

/** A client with one connection, which is opened on first use. */
export const connect = (url: string, { name, connectS = CONNECT_S }: ConnectOptions = {}): SQL =>
  new SQL(url, { max: 1, connectionTimeout: connectS, ...(name && { connection: { application_name: name } }) })

/** A connection of a pool. It runs either several short statements at once, or one transaction and nothing else. */
export type Line = {
  client: SQL
  name: string
  users: number
  isShared: boolean
  limitMs: number
  /** Functions that end its pending waits. */
  waits: Set<(error: Error) => void>
  /** Start of the wait for the next answer. Null while no answer is pending. */
  requestedAt: number | null
  /** Time of the last answer. Null before the first one. */
  answeredAt: number | null
  lookedAt: number
  isDoubted: boolean
}

type Statement = PromiseLike<unknown> & { values(): PromiseLike<unknown> }
/** The functions of a client that drizzle uses, and `rows` for the store's own statements. */
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
  requestedAt: null,
  answeredAt: null,
  lookedAt: 0,
  isDoubted: false,
})

/**
 * A client whose statements each run on the line that `onLine` finds. Calls `request` for each statement sent. A read
 * whose line was lost is sent once more, because the next line may work and a read changes nothing.
 */
export function clientOn(onLine: OnLine, begin: Begin, request: () => void): Client {
  const ask = (rows: boolean, text: string, values?: unknown[]) => {
    const once = () => onLine((line) => track(line, () => sent(line.client, rows, text, values), request))
    return text.startsWith(READS) ? once().catch((error) => againIf(isLost(error), error, once)) : once()
  }
  return clientOf(ask, begin)
}

/** Start of a read as the query builder writes it. */
const READS = 'select '

/** True if the connection closed, or was dropped, before the answer arrived. */
const isLost = (error: unknown): boolean => {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return /^ERR_POSTGRES_CONNECTION_(SILENT|CLOSED)$/.test(String(code)) || errno === '57P01'
}

function againIf<T>(may: boolean, error: unknown, work: () => Promise<T>): Promise<T> {
  return may ? work() : Promise.reject(error)
}

/** Retries a transaction whose line was lost before it began, because nothing of it was done. */
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

/** Runs a transaction on one line and tracks each wait for the server. */
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

/** Waits for an answer on a line, until the line is dropped. */
async function track<T>(line: Line, work: () => PromiseLike<T>, request: () => void): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  line.requestedAt ??= systemClock.monotonic()
  line.waits.add(reject)
  request()
  work().then(resolve, reject)
  try {
    const answer = await promise
    line.answeredAt = systemClock.monotonic()
    return answer
  } finally {
    line.waits.delete(reject)
    line.requestedAt = line.waits.size ? systemClock.monotonic() : null
    line.isDoubted = false
  }
}

/** Like in Bun's own client, a statement runs when it is awaited: for objects, or with `values` for rows of columns. */
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
