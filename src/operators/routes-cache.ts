import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { checked } from '../kernel/schema'
import { CacheFinding, CachePurge, CachePurged, CacheQuestion, CacheStats } from './schema-cache'
import type { OperatorService } from './service'

/** This server's answer cache (dx 2.18). */
export const cacheRoutes = (cache: OperatorService['cache'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/cache' })
    .use(edge)
    .get('', (context) => cache.stats(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(CacheStats) },
    })
    .post('/find', (context) => cache.find(toOperatorCall(context), context.body), {
      role: 'any',
      body: checked(CacheQuestion),
      response: { 200: answer(CacheFinding), ...errors(400, 404, 409) },
    })
    .post('/purge', (context) => cache.purge(toOperatorCall(context), context.body), {
      body: checked(CachePurge),
      response: { 200: answer(CachePurged), ...errors(400, 404, 409) },
    })
