import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { RateLimiter } from './limiter'
import { RateLimits } from './schema'

export const rateLimitRoutes = (limiter: RateLimiter, guard: Guard) =>
  new Elysia({ prefix: '/rate-limits', tags: ['Rate limits'] })
    .use(guard)
    .get('', (context) => limiter.status(toCall(context).caller), {
      signedIn: true,
      response: { 200: answer(RateLimits), ...errors(401, 403, 429) },
      detail: { summary: "This key's limits and what is left of them" },
    })
