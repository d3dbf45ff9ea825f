import { peek } from 'bun'
import type { Clock } from '../kernel/clock'
import { type AppError, defineError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import type { Exchange } from './context'

/** What every request may take but those that wait for an engine, which have limits of their own (contract 1.9). */
const LIMIT_MS = 30_000

/** Completions have 120 and 600 s; exports take as long as they are read. */
const UNLIMITED = /(?:\/completions|\/export)$/

export const givenUp = defineError(
  'timeout',
  'request_timeout',
  () =>
    `This took longer than ${LIMIT_MS / 1_000} s and was given up. A change may have been made all the same: look before you send it again, or send it with an Idempotency-Key.`,
)

type Handler = (request: Request, ...rest: unknown[]) => unknown

type Deps = {
  clock: Clock
  log: Log
  /** The whole answer to a request that is given up. */
  answer(error: AppError, exchange: Exchange, request: Request): Response
}

export type TimeLimit = ReturnType<typeof createTimeLimit>

/**
 * Answers within 30 s, whatever a request waits for: 504 `request_timeout`. What it was doing goes on
 * unheard; when that fails, it is logged.
 */
export function createTimeLimit({ clock, log, answer }: Deps) {
  const waiting = new WeakMap<Request, Exchange>()

  const limited =
    (handle: Handler): Handler =>
    (request, ...rest) => {
      const working = handle(request, ...rest)
      // Most reads of what is remembered have waited for nothing.
      if (!(working instanceof Promise) || peek.status(working) !== 'pending') return working
      const exchange = waiting.get(request)
      if (!exchange) return working
      const late = Promise.withResolvers<Response>()
      let over = false
      const cancel = clock.after(LIMIT_MS, () => {
        over = true
        late.resolve(answer(givenUp(), exchange, request))
      })
      const failedUnheard = (error: unknown) => {
        if (over) log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
      }
      working.then(undefined, failedUnheard).finally(cancel)
      return Promise.race([working, late.promise])
    }

  return {
    /** The exchange of a request that may have to be given up. */
    arrived(request: Request, exchange: Exchange): void {
      if (!UNLIMITED.test(exchange.path)) waiting.set(request, exchange)
    },
    /** Around the whole handling of one request. */
    around: (handle: Handler, request: Request): Handler =>
      // The end of the address, a query apart, decides; completions have no query and stay without this.
      request.url.endsWith('/completions') ? handle : limited(handle),
  }
}
