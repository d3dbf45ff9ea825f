import type { Server } from 'bun'
import { requireScope, type Scope } from '../kernel/caller'
import type { Standard, TSchema } from '../kernel/schema'
import { API, type Exchange, routeName } from './context'
import { type BodyReader, ONCE } from './guard'
import type { Route } from './route-rules'
import {
  answerBefore,
  check,
  complete,
  type EdgeDeps,
  endRequest,
  type Headers,
  refuse,
  setStateHeaders,
  startRequest,
  withinLimit,
} from './rules'

type Deps = EdgeDeps & {
  /** Path prefixes under which the server answers a native route itself. */
  bases: readonly string[]
  read: BodyReader
  /** Wraps the whole handling of a request to a path, in the framework and here. */
  around(path: string, answer: Served): Served
}

/** The parts of the framework's context that the handler of a native route may use. */
type Context = {
  request: Request
  exchange: Exchange
  set: { status: number; headers: Headers }
  route: string
  body: unknown
}

type Declared = Route & {
  handler: unknown
  hooks: Route['hooks'] & { body?: Standard<TSchema>; detail?: { 'x-required-scope'?: Scope } }
}

type Served = (request: Request, server: Server<unknown>) => Response | Promise<Response>

/** An error while a body was read, in the framework's form. */
class Unread extends Error {}

/**
 * The routes that declare `native`, for `serve.routes`. The server calls them without the framework. The framework has
 * the same routes for other methods and spellings of their paths. Rules, handler and answer are the same.
 */
export function nativeRoutes(deps: Deps, routes: readonly Declared[]): Record<string, Record<string, Served>> {
  const served: Record<string, Record<string, Served>> = {}
  for (const route of routes) {
    if (!route.hooks.detail?.edge?.native) continue
    const answer = native(deps, route)
    for (const base of deps.bases) {
      const path = base + route.path.slice(API.length)
      served[path] = { ...served[path], [route.method]: deps.around(path, answer) }
    }
  }
  return served
}

function native(deps: Deps, { method, path, handler, hooks }: Declared): Served {
  const rule = deps.rules.of(method, path)!
  const scope = hooks.detail?.['x-required-scope']
  const name = routeName(method, path)
  const body = hooks.body?.['~standard']
  const handle = handler as (context: Context) => unknown

  function answer(request: Request, server: Server<unknown>): Response | Promise<Response> {
    const exchange = startRequest(deps, request, server, path, rule)
    const context: Context = { request, exchange, set: { status: 200, headers: {} }, route: path, body: undefined }
    setStateHeaders(deps, exchange, context.set.headers)
    let working: Response | Promise<Response>
    try {
      const answered = answerBefore(deps, exchange, request, context.set.headers as Record<string, string>)
      if (answered) return answered
      const checked = check(deps, exchange, request)
      working = checked instanceof Promise ? whenChecked(context, checked) : run(context)
    } catch (error) {
      working = refused(context, error, undefined)
    }
    return rule.timeLimit && working instanceof Promise ? withinLimit(deps, exchange, request, working) : working
  }

  async function whenChecked(context: Context, checked: Promise<void>): Promise<Response> {
    try {
      await checked
    } catch (error) {
      return refused(context, error, undefined)
    }
    return run(context)
  }

  function run(context: Context): Response | Promise<Response> {
    try {
      if (scope) requireScope(context.exchange.caller!, scope, name)
      if (body) return answerBody(context, body)
      const value = handle(context)
      return value instanceof Promise ? later(context, value) : finished(context, value)
    } catch (error) {
      return refused(context, error, path)
    }
  }

  async function later(context: Context, answering: Promise<unknown>): Promise<Response> {
    try {
      return finished(context, await answering)
    } catch (error) {
      return refused(context, error, path)
    }
  }

  async function answerBody(context: Context, { validate }: Standard<TSchema>['~standard']): Promise<Response> {
    let sent: unknown
    try {
      sent = await deps.read(context)
    } catch (error) {
      return refused(context, new Unread('', { cause: error }), path)
    }
    try {
      context.body = (validate(sent) as { value: unknown }).value
      return finished(context, await (ONCE.beforeHandle(context) ?? handle(context)))
    } catch (error) {
      return refused(context, error, path)
    }
  }

  function finished(context: Context, value: unknown): Response | Promise<Response> {
    const { exchange, request, set } = context
    complete(deps, exchange, request, set.headers, value)
    if (!exchange.ticket) return ended(context, toResponse(value, set), path)
    const stored = ONCE.afterHandle({ ...context, responseValue: value }) as unknown as Promise<string>
    return Promise.resolve(stored).then((text) => ended(context, toResponse(text, set), path))
  }

  function refused(context: Context, error: unknown, route: string | undefined): Response | Promise<Response> {
    const { exchange, request, set } = context
    const caught = error instanceof Unread ? { code: 'PARSE', error } : { error }
    const refusal = refuse(deps, exchange, request, set.headers, caught)
    set.status = refusal.status
    const { body } = refusal
    return body instanceof Promise
      ? body.then((known) => ended(context, toResponse(known, set), route))
      : ended(context, toResponse(body, set), route)
  }

  function ended({ exchange, set }: Context, response: Response, route: string | undefined): Response {
    endRequest(exchange)
    if (!exchange.streaming) deps.accessLog(exchange, set.status, route)
    return response
  }

  return answer
}

/**
 * Headers of the latest answer, and the values set in them. Copying this object into a response costs a third of
 * copying a record, and headers rarely change from one answer to the next.
 */
const latest = { headers: new Headers(), set: {} as Record<string, string> }

/** These headers as a shared object, which is valid until the next call. */
function headersOf(wanted: Headers): ResponseInit['headers'] {
  const { headers, set } = latest
  for (const name in set) {
    if (wanted[name] !== undefined) continue
    headers.delete(name)
    delete set[name]
  }
  for (const name in wanted) {
    const value = wanted[name]
    if (value === set[name]) continue
    // Several values of one name need several headers.
    if (typeof value === 'object') return wanted as Record<string, string>
    headers.set(name, `${value}`)
    set[name] = `${value}`
  }
  return headers
}

/**
 * The answer as the framework would create it. A response's own headers win over the set ones. A function gives bytes
 * that only the response may use.
 */
function toResponse(value: unknown, { status, headers }: Context['set']): Response {
  if (typeof value === 'function') return new Response(value() as BodyInit, { status, headers: headersOf(headers) })
  if (typeof value === 'string') return new Response(value, { status, headers: headersOf(headers) })
  if (!(value instanceof Response)) return Response.json(value, { status, headers: headersOf(headers) })
  const own = new Set(value.headers.keys())
  for (const [name, text] of new Headers(headersOf(headers))) if (!own.has(name)) value.headers.append(name, text)
  // Wrapping a stream in another response would make each of its pieces more expensive.
  return value.status === status ? value : new Response(value.body, { status, headers: value.headers })
}
