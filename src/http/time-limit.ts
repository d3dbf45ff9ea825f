import { peek } from 'bun'
import type { Clock } from '../kernel/clock'
import { type AppError, defineError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import type { Exchange } from './context'

/** Time limit of every request, except on routes that declare `timeLimit: 'own'` (contract 1.9). */
const LIMIT_MS = 30_000

const givenUp = defineError(
  'timeout',
  'request_timeout',
  () =>
    `This took longer than ${LIMIT_MS / 1_000} s and was stopped. A change may still have been made. Check before you send it again, or use an Idempotency-Key.`,
)

type Handler = (request: Request, ...rest: unknown[]) => unknown

type Deps = {
  clock: Clock
  log: Log
  /** Builds the whole answer to a request that timed out. */
  answer(error: AppError, exchange: Exchange, request: Request): Response
}

/**
 * Answers 504 `request_timeout` after 30 s. The work of the request goes on and its result is dropped; if it fails
 * later, the error is logged.
 */
export function createTimeLimit({ clock, log, answer }: Deps) {
  const waiting = new WeakMap<Request, Exchange>()

  const limited =
    (handle: Handler): Handler =>
    (request, ...rest) => {
      const working = handle(request, ...rest)
      if (!(working instanceof Promise)) return working
      const exchange = waiting.get(request)
      // Answers from a cache are settled already, so they need no timer.
      if (!exchange || peek.status(working) !== 'pending') return working
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
    /** Registers a request for the time limit. */
    arrived(request: Request, exchange: Exchange): void {
      if (exchange.rule.timeLimit) waiting.set(request, exchange)
    },
    /** Wraps the handling of one request. */
    around: limited,
  }
}
