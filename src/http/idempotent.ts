import { ElysiaCustomStatusResponse } from 'elysia'
import { fingerprintOf, type Idempotency, type Ticket } from '../idempotency'
import { readJson, readOther, receiveUpload } from './body'
import type { Exchange } from './context'
import type { RouteRules } from './route-rules'

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

type Deps = {
  idempotency: Idempotency
  rules: Pick<RouteRules, 'of'>
  /** Folder of uploaded files while they are read. */
  incoming: string
}

export type BodyReader = ReturnType<typeof createBodyReader>

/**
 * Reads a body as its route declares it and handles its Idempotency-Key, after the scope check and before validation
 * (contract 1.5). A request without the header costs only the header look-up.
 */
export function createBodyReader({ idempotency, rules, incoming }: Deps) {
  return function read(context: Context): Promise<unknown> {
    const { exchange, request, route } = context
    const rule = rules.of(request.method, route) ?? exchange.rule
    if (rule.body === 'upload') return receiveUpload(request, { maxBytes: rule.maxBytes, folder: incoming })
    if (rule.body === 'form' || rule.body === 'raw') return readOther(request, rule)
    const key = request.headers.get(HEADER)
    const { once } = rule
    const { caller } = exchange
    if (key === null || caller === null || !once) return readJson(request, rule)
    const look = async (bytes: Uint8Array, parsed: () => unknown) => {
      if (once.streams && asksForStream(parsed)) return
      const found = await idempotency.begin({
        userId: caller.userId,
        key,
        requestId: exchange.requestId,
        fingerprint: fingerprintOf(caller, request.method, exchange.path, bytes),
        status: once.status,
      })
      if ('body' in found) exchange.replay = found
      else exchange.ticket = found
    }
    return readJson(request, { body: rule.body, open: rule.open, maxBytes: rule.maxBytes, look })
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
  // A handler returns a value or `status(201, value)`.
  const { status, body } =
    responseValue instanceof ElysiaCustomStatusResponse
      ? { status: Number(responseValue.code), body: responseValue.response }
      : { status: Number(set.status ?? 200), body: responseValue }
  if (status >= 300) return givenBack(exchange, responseValue)
  const text = ticket.answered()
  exchange.notes.idempotency = text === null ? 'kept alone' : 'kept with its effect'
  return sent(set, ticket.status, text ?? storedAlone(exchange, ticket, body))
}

/** Stores an answer that no verb stored. A failure to store is only noted: the request had no effect to repeat. */
async function storedAlone({ notes }: Exchange, ticket: Ticket, answer: unknown): Promise<string> {
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
