import { ElysiaCustomStatusResponse } from 'elysia'
import { fingerprintOf, type Idempotency, type Ticket } from '../idempotency'
import { readJson } from './body'
import type { Exchange } from './context'

const HEADER = 'idempotency-key'
const JSON_TYPE = 'application/json;charset=utf-8'

type Headers = Record<string, string | number | string[] | undefined>
type Context = { exchange: Exchange; request: Request; route: string }
/** A context before or after its handler. */
export type Answering = {
  exchange: Exchange
  set: { status?: number | string; headers: Headers }
  responseValue?: unknown
}

/** What a switched-on route says of itself. */
export type OnceRule = {
  /** The success it declares, of two the later one: an answer is kept before its headers are written. */
  status: number
  /** Answers a stream when the body asks for one; streams have no key (contract 1.7). */
  streams: boolean
}

type Routed = { method: string; path: string; hooks: { detail?: Record<string, unknown>; response?: object } }

/** The rule of every route that says `idempotent: true`. Built once from the finished app. */
export function createOnceTable(routes: readonly Routed[]): (method: string, route: string) => OnceRule | undefined {
  const rules = new Map<string, OnceRule>()
  for (const { method, path, hooks } of routes) {
    if (hooks.detail?.['x-idempotent'] !== true) continue
    rules.set(`${method} ${path}`, {
      status: successOf(path, hooks.response),
      streams: hooks.detail['x-streams'] === true,
    })
  }
  return (method, route) => rules.get(`${method} ${route}`)
}

function successOf(path: string, response: object = {}): number {
  if ('schema' in response) return 200
  const [status, ...more] = Object.keys(response).filter((word) => word.startsWith('2'))
  // A second success, as of what was there already, is named by the verb that keeps it.
  if (!status || more.length > 1) throw new Error(`${path} is idempotent and does not declare one success, or two`)
  return Number(more[0] ?? status)
}

type Deps = { idempotency: Idempotency; ruleOf(method: string, route: string): OnceRule | undefined }

export type OnceReader = ReturnType<typeof createOnceReader>

/**
 * Reads a body, and first, where route and header ask for it, sees to its Idempotency-Key: after the scope,
 * before validation (contract 1.5). A request without the header costs one look at the headers.
 */
export function createOnceReader({ idempotency, ruleOf }: Deps) {
  return function read(context: Context): Promise<unknown> {
    const { exchange, request, route } = context
    const key = request.headers.get(HEADER)
    if (key === null) return readJson(request)
    const { caller } = exchange
    const rule = ruleOf(request.method, route)
    if (!caller || !rule) return readJson(request)
    return readJson(request, async (bytes, parsed) => {
      if (rule.streams && asksForStream(parsed)) return
      const found = await idempotency.begin({
        userId: caller.userId,
        key,
        requestId: exchange.requestId,
        fingerprint: fingerprintOf(caller, request.method, exchange.path, bytes),
        status: rule.status,
      })
      if ('body' in found) exchange.replay = found
      else exchange.ticket = found
    })
  }
}

/** A body that cannot be read asks for nothing; that it cannot is said where bodies are validated. */
function asksForStream(parsed: () => unknown): boolean {
  try {
    return (parsed() as { stream?: unknown } | undefined)?.stream === true
  } catch {
    return false
  }
}

/** The answer this request had before, byte for byte; undefined when it is to be run. */
export function replayed({ exchange: { replay, notes }, set }: Answering): string | undefined {
  if (!replay) return undefined
  notes.idempotency = 'replayed'
  set.headers['x-idempotent-replay'] = 'true'
  return sent(set, replay.status, replay.body)
}

/** What is kept is what is sent. Undefined where there is no key to keep it under; a refusal gives the key back. */
export function answeredOnce({ exchange, set, responseValue }: Answering): unknown {
  const { ticket } = exchange
  if (!ticket) return undefined
  const { status, body } = bodyOf(responseValue, Number(set.status ?? 200))
  if (status >= 300) return givenBack(exchange, responseValue)
  const text = ticket.answered()
  exchange.notes.idempotency = text === null ? 'kept alone' : 'kept with its effect'
  return sent(set, ticket.status, text ?? keptAlone(exchange, ticket, body))
}

/** An answer without an effect of its own stands, whether or not it could be kept for the next time. */
async function keptAlone({ notes }: Exchange, ticket: Ticket, answer: unknown): Promise<string> {
  const { text, keeping } = ticket.keepAlone(answer)
  await keeping.catch(() => {
    notes.idempotency = 'not kept'
  })
  return text
}

/** After a failure the key is free again; where that cannot be written down, the lease ends it. */
export async function givenBack<T>({ ticket, notes }: Exchange, answer: T): Promise<T> {
  await ticket?.giveBack().catch(() => {
    notes.idempotency = 'not given back'
  })
  return answer
}

function sent<Text>(set: Answering['set'], status: number, text: Text): Text {
  set.status = status
  set.headers['content-type'] = JSON_TYPE
  return text
}

/** A handler answers a value, or `status(201, value)`. */
const bodyOf = (value: unknown, status: number): { status: number; body: unknown } =>
  value instanceof ElysiaCustomStatusResponse
    ? { status: Number(value.code), body: value.response }
    : { status, body: value }
