import { Elysia } from 'elysia'
import { answer } from '../http/envelope'
import type { Guard } from '../http/guard'
import { t } from '../kernel/schema'
import type { HealthService } from './health'
import { Draining, Health } from './status-schema'

const DOWN_RETRY_AFTER_S = '30'
/** A restarting server is back within seconds, and another server can answer at once. */
const DRAINING_RETRY_AFTER_S = '5'

export const healthRoutes = (health: HealthService, guard: Guard) =>
  new Elysia({ tags: ['Health'] }).use(guard).get(
    '/health',
    async ({ set }) => {
      const draining = health.draining()
      if (draining) {
        set.status = 503
        set.headers['retry-after'] = DRAINING_RETRY_AFTER_S
        return draining as never
      }
      const { health: found, cached } = await health.check()
      set.headers['x-cache'] = cached ? 'HIT' : 'MISS'
      if (found.status === 'down') {
        set.status = 503
        set.headers['retry-after'] = DOWN_RETRY_AFTER_S
      }
      return { ...found } as never
    },
    {
      open: true,
      cors: 'anyone',
      response: { 200: answer(Health), 503: answer(t.Union([Health, Draining])) },
      detail: { summary: 'Read the health of the server and its parts' },
    },
  )
