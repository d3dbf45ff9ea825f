import { Elysia, ElysiaCustomStatusResponse } from 'elysia'
import { fingerprintOf, type Idempotency, type Ticket } from '../idempotency'
import { type Call, requireScope, type Scope, type TenantCaller } from '../kernel/caller'
import { MAX_SHARED_MS } from '../kernel/shared-reads'
import { readJson, readOther, receiveUpload } from './body'
import { callOf, type Exchange, routeName } from './context'
import type { EdgeOptions, RouteRules } from './route-rules'

const HEADER = 'idempotency-key'

/** Content type of answers that are already text. */
export const JSON_TYPE = 'application/json;charset=utf-8'

/** The context of a hook before or after the handler. */
type Answering = {
  exchange: Exchange
  set: { status?: number | string; headers: Record<string, string | number | string[] | undefined> }
  responseValue?: unknown
}

type Deps = {
  idempotency: Idempotency
  rules: Pick<RouteRules, 'of'>
  /** Folder of uploaded files while they are processed. */
  incoming: string
}

export type BodyReader = ReturnType<typeof createBodyReader>

type Context = { exchange: Exchange; request: Request; route: string }
type Visit = Context & { params: Record<string, string> }

/** The default reader: reads the body as JSON and ignores Idempotency-Keys. */
const PLAIN: BodyReader = ({ request, exchange }) => readJson(request, exchange.rule)

/** An option that the edge reads before the body, from the table of rules. */
const declares = (edge: EdgeOptions) => ({ detail: { edge } as object })

/**
 * Options by which a route declares its properties. Each route says who may call it: `scope: 'billing'`, `signedIn:
 * true` or `open: true`. The body is read after the scope check, so a bad body with a missing scope is 403.
 * `idempotent: true` lets a POST accept an Idempotency-Key (docs/api.md 1.7). Its verb stores the answer with its
 * effect: `return storeAnswer(tx, call, answer)`. The body is JSON unless the route declares `form`, `upload` or `raw`.
 */
export const guard = (read: BodyReader = PLAIN) =>
  new Elysia({ name: 'http/guard' }).decorate('exchange', null as unknown as Exchange).macro({
    scope: (scope: Scope) => ({
      ...admitting(read, (context) =>
        requireScope(callerOf(context), scope, routeName(context.request.method, context.route)),
      ),
      detail: { security: [{ bearer: [] }], 'x-required-scope': scope } as object,
    }),
    signedIn: (_: true) => ({
      ...admitting(read, callerOf),
      detail: { security: [{ bearer: [] }] } as object,
    }),
    open: (_: true) => ({ ...admitting(read, () => undefined), detail: { security: [] } as object }),
    /** Runs before validation. Throws for a visitor without the token that the route needs. */
    admit: (enter: (visit: Visit) => Promise<unknown>) => ({
      transform: async ({ exchange, request, route, params }: Visit) => {
        await enter({ exchange, request, route, params })
      },
    }),
    idempotent: (_: true) => ({ ...ONCE, detail: { 'x-idempotent': true } as object }),
    /** The body is a page's small form. The handler gets its fields. A repeated field has its last value. */
    form: (_: true) => declares({ body: 'form' }),
    /** The body has parts, including a file of at most `maxBytes`. The handler gets an `Upload`, and discards it. */
    upload: (maxBytes: number) => declares({ body: 'upload', maxBytes }),
    /** Maximum number of files in such a body, if more than one. */
    uploads: (maxFiles: number) => declares({ maxFiles }),
    /** The largest JSON body, if it differs from the default. */
    upTo: (maxBytes: number) => declares({ maxBytes }),
    /** Prefix of its request ids instead of `req` (docs/api.md 1.3). */
    idPrefix: (idPrefix: string) => declares({ idPrefix }),
    /** The body is JSON whose bytes are signed. The handler gets a `Uint8Array`. */
    raw: (_: true) => declares({ body: 'raw' }),
    /** The body is ignored, even if it is invalid. */
    ignored: (_: true) => declares({ body: 'ignored' }),
    /** The route has its own limits for waiting on an engine or a reader, not 30 s (docs/api.md 1.9). */
    timeLimit: (timeLimit: 'own') => declares({ timeLimit }),
    /** Pages of every origin may read the answers of this open route. */
    cors: (cors: 'anyone') => declares({ cors }),
    /** The server answers the route itself, without the framework. The route has neither parameters nor a query. */
    native: (_: true) => declares({ native: true }),
    /** The path contains a secret as its parameter, which the log omits. */
    secretPath: (_: true) => declares({ secretPath: true }),
  })

/** The authenticated caller. Throws if a request reached a guarded route without authentication. */
function callerOf({ exchange, route }: Context): TenantCaller {
  if (!exchange.caller) throw new Error(`${route} is reached without a caller`)
  return exchange.caller
}

/**
 * Runs `check` before the body is read or, without a body, before validation. The hooks destructure only what they
 * need, because the framework prepares for every request what a hook names (cookies, query, headers).
 */
const admitting = (read: BodyReader, check: (context: Context) => unknown) => ({
  parse: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
    return read({ exchange, request, route })
  },
  transform: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
  },
})

/**
 * Hooks around the handler of an idempotent route: replay a stored answer, or store the new one. The framework reads a
 * hook's source to decide whether to await it. Written as a condition, a request without a key awaits nothing.
 */
export const ONCE = {
  beforeHandle: ({ exchange, set }: Answering): undefined =>
    exchange.replay ? (replayed({ exchange, set }) as undefined) : undefined,
  afterHandle: ({ exchange, set, responseValue }: Answering): undefined =>
    exchange.ticket ? (answeredOnce({ exchange, set, responseValue }) as undefined) : undefined,
}

/** Builds the `Call` for a verb from a handler's context. */
export const toCall = ({ exchange, request, route }: Context): Call => callOf(exchange, route, request.signal)

/** The age of an answer that a request accepts (RFC 9111, 5.2.1.1), in milliseconds. 0 if it does not say. */
export function maxAgeOf({ request }: Pick<Context, 'request'>): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,6})/i.exec(request.headers.get('cache-control') ?? '')?.[1]
  return Math.min(Number(seconds ?? 0) * 1_000, MAX_SHARED_MS)
}

/** The facts of a request that has no caller yet. */
export const visitOf = ({ exchange, request, route }: Context) => ({
  requestId: exchange.requestId,
  route: routeName(exchange.method, route),
  signal: request.signal,
  ip: exchange.ip(),
  userAgent: request.headers.get('user-agent')?.slice(0, 300) ?? null,
})

export type Guard = ReturnType<typeof guard>

/**
 * Reads a body as its route declares and handles its Idempotency-Key, after the scope check and before validation
 * (docs/api.md 1.5). A request without the header costs only the header lookup.
 */
export function createBodyReader({ idempotency, rules, incoming }: Deps) {
  return function read(context: Context): unknown {
    const { exchange, request, route } = context
    const rule = rules.of(request.method, route) ?? exchange.rule
    if (rule.body === 'upload') return receiveUpload(request, { ...rule, folder: incoming })
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

/** True if the body contains `stream: true`. False for an invalid body, which is rejected later when it is parsed. */
function asksForStream(parsed: () => unknown): boolean {
  try {
    return (parsed() as { stream?: unknown } | undefined)?.stream === true
  } catch {
    return false
  }
}

/** The stored answer to replay, byte for byte. Undefined when the request must run. */
function replayed({ exchange: { replay, notes }, set }: Answering): string | undefined {
  if (!replay) return undefined
  notes.idempotency = 'replayed'
  set.headers['x-idempotent-replay'] = 'true'
  return sent(set, replay.status, replay.body)
}

/** Stores a success under its key and sends the stored text. An error frees the key. Undefined without a key. */
function answeredOnce({ exchange, set, responseValue }: Answering): unknown {
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

/** Stores an answer that no verb stored. A failure is only noted, because the request had no effect to repeat. */
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
