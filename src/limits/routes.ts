import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked, checkedPath, t } from '../kernel/schema'
import type { LimitIncreases } from './increases'
import type { RateLimiter } from './limiter'
import { Decision, Increase, NewIncrease, RateLimits } from './schema'

type Modules = { limiter: RateLimiter; increases: LimitIncreases }

/** `/rate-limits` (docs/api.md 21). */
export const rateLimitRoutes = ({ limiter, increases }: Modules, guard: Guard) =>
  new Elysia({ prefix: '/rate-limits', tags: ['Rate limits'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const call = toCall(context)
        const pending_request = await increases.pendingOf(call)
        return { ...(await limiter.status(call.caller)), pending_request }
      },
      {
        signedIn: true,
        response: { 200: answer(RateLimits), ...errors(401, 403, 429) },
        detail: { summary: "Read this key's rate limits and what is left of them" },
      },
    )
    .post(
      '/request-increase',
      async (context) => context.status(201, await increases.request(toCall(context), context.body)),
      {
        scope: 'billing',
        idempotent: true,
        body: checked(NewIncrease),
        response: { 201: answer(Increase), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Request a higher tier: a key for itself, a session for its user’s personal keys' },
      },
    )
    .post('/requests/:id/decision', (context) => increases.decide(toCall(context), context.params.id, context.body), {
      signedIn: true,
      idempotent: true,
      params: checkedPath(t.Object({ id: t.String() })),
      body: checked(Decision),
      response: { 200: answer(Increase), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Approve or reject a tier request (platform reviewers); an approval takes effect at once' },
    })
