import { ElysiaCustomStatusResponse } from 'elysia'
import { fingerprintOf, type Idempotency, type Ticket } from '../idempotency'
import { readJson } from './body'
import type { Exchange } from './context'

const HEADER = 'idempotency-key'
const JSON_TYPE = 'application/json;charset=utf-8'

type Headers = Record<string, string | number | string[] | undefined>
type Context = { exchange: Exchange; request: Request; route: string }
/** The context of a hook before or after the handler. */
export type Answering = {
  exchange: Exchange
  set: { status?: number | string; headers: Headers }
  responseValue?: unknown
}

/** What the document of an idempotent route says about its answers. */
export type OnceRule = {
  /** Its declared success status; the second if it declares two, as the answer is stored before its status is set. */
  status: number
  /** Whether the route can answer with a stream; streams ignore the Idempotency-Key (contract 1.7). */
  streams: boolean
}

type Routed = { method: string; path: string; hooks: { detail?: Record<string, unknown>; response?: object } }

/** The rules of all routes with `idempotent: true`. Built once, from the routes of the finished app. */
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
  // A route may declare two success statuses (200 already there, 201 created); its verb picks which one is stored.
  if (!status || more.length > 1) throw new Error(`${path} is idempotent and does not declare one success, or two`)
  return Number(more[0] ?? status)
}

type Deps = { idempotency: Idempotency; ruleOf(method: string, route: string): OnceRule | undefined }

export type OnceReader = ReturnType<typeof createOnceReader>

/**
 * Reads a body and handles its Idempotency-Key, after the scope check and before validation (contract 1.5). A request
 * without the header costs only the header look-up.
 */
export function createOnceReader({ idempotency, ruleOf }: Deps) {
  return function read(context: Context): Promise<unknown> {
    const { exchange, request, route } = context
    const key = request.headers.get(HEADER)
    const { caller } = exchange
    const isPublic = caller === null
    const rule = key === null ? undefined : ruleOf(request.method, route)
    if (key === null || isPublic || !rule) return readJson(request, { isPublic })
    const look = async (bytes: Uint8Array, parsed: () => unknown) => {
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
    }
    return readJson(request, { isPublic, look })
  }
}

/** Whether the body says `stream: true`. False for an invalid body, which is refused later, when it is parsed. */
function asksForStream(parsed: () => unknown): boolean {
  try {
    return (parsed() as { stream?: unknown } | undefined)?.stream === true
  } catch {
    return false
  }
}

/** The stored answer to replay, byte for byte; undefined when the request must run. */
export function replayed({ exchange: { replay, notes }, set }: Answering): string | undefined {
  if (!replay) return undefined
  notes.idempotency = 'replayed'
  set.headers['x-idempotent-replay'] = 'true'
  return sent(set, replay.status, replay.body)
}

/** Stores a success under its key and sends the stored text; an error gives the key back. Undefined without a key. */
export function answeredOnce({ exchange, set, responseValue }: Answering): unknown {
  const { ticket } = exchange
  if (!ticket) return undefined
  const { status, body } = bodyOf(responseValue, Number(set.status ?? 200))
  if (status >= 300) return givenBack(exchange, responseValue)
  const text = ticket.answered()
  exchange.notes.idempotency = text === null ? 'kept alone' : 'kept with its effect'
  return sent(set, ticket.status, text ?? keptAlone(exchange, ticket, body))
}

/** Stores an answer that no verb stored. A failure to store is only noted: the request had no effect to repeat. */
async function keptAlone({ notes }: Exchange, ticket: Ticket, answer: unknown): Promise<string> {
  const { text, keeping } = ticket.keepAlone(answer)
  await keeping.catch(() => {
    notes.idempotency = 'not kept'
  })
  return text
}

/** Frees the key after a failure. If that cannot be stored, the key is free when its lease ends. */
export async function givenBack<T>({ ticket, notes }: Exchange, answer: T): Promise<T> {
  await ticket?.release().catch(() => {
    notes.idempotency = 'not given back'
  })
  return answer
}

function sent<Text>(set: Answering['set'], status: number, text: Text): Text {
  set.status = status
  set.headers['content-type'] = JSON_TYPE
  return text
}

/** A handler returns a value or `status(201, value)`. */
const bodyOf = (value: unknown, status: number): { status: number; body: unknown } =>
  value instanceof ElysiaCustomStatusResponse
    ? { status: Number(value.code), body: value.response }
    : { status, body: value }
