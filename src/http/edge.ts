import type { Server } from 'bun'
import { Elysia, ElysiaCustomStatusResponse } from 'elysia'
import type { Exchange } from './context'
import {
  answerBefore,
  check,
  complete,
  countRefusal,
  type EdgeDeps,
  endRequest,
  refuse,
  setStateHeaders,
  startRequest,
  withinLimit,
} from './rules'

type Handler = (request: Request, ...rest: unknown[]) => unknown

/** The plugin around all routes. Applies the rules of `rules.ts` to each request that the framework answers. */
export function edge(deps: EdgeDeps) {
  let server: Server<unknown> | null = null
  const limited = new WeakMap<Request, Exchange>()
  /*
   * The framework reads the source of each hook, and prepares for every request what a hook names: `server`, or
   * cookies, headers and query if the hook passes its context on. So no hook here names the server or passes its
   * context on.
   */
  return new Elysia({ name: 'http/edge' })
    .onStart((app) => {
      server = app.server
    })
    .wrap(
      (handle: Handler): Handler =>
        (request, ...rest) => {
          const working = handle(request, ...rest)
          const exchange = working instanceof Promise && limited.get(request as Request)
          return exchange ? withinLimit(deps, exchange, request, working) : working
        },
    )
    .decorate('exchange', null as unknown as Exchange)
    .onRequest((context) => {
      const { request, set } = context
      const exchange = startRequest(deps, request, server)
      context.exchange = exchange
      if (exchange.rule.timeLimit) limited.set(request, exchange)
      setStateHeaders(deps, exchange, set.headers)
      const answered = answerBefore(deps, exchange, request, set.headers as Record<string, string>)
      if (answered) return answered
      return check(deps, exchange, request)
    })
    .onAfterHandle({ as: 'global' }, ({ exchange, set, request, responseValue }) => {
      const isCustom = responseValue instanceof ElysiaCustomStatusResponse
      if (isCustom) countRefusal(deps, exchange, Number(responseValue.code), null)
      complete(deps, exchange, request, set.headers, isCustom ? responseValue.response : responseValue)
    })
    .onError({ as: 'global' }, (context) => {
      const { request, set, error, code } = context
      const exchange = context.exchange ?? startRequest(deps, request, server)
      const { status, body } = refuse(deps, exchange, request, set.headers, { code, error })
      set.status = status
      return body
    })
    .onAfterResponse({ as: 'global' }, ({ exchange, set, route }) => {
      if (!exchange) return
      endRequest(exchange)
      if (!exchange.streaming) deps.accessLog(exchange, Number(set.status ?? 200), route)
    })
}
