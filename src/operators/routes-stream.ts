import { Elysia } from 'elysia'
import { answer } from '../http/envelope'
import { type OperatorEdge, toOperatorCall } from '../http/operator-edge'
import { checkedQuery } from '../kernel/schema'
import { Snapshots, StreamQuery } from './schema-stream'
import type { createStream } from './stream'

/** What the dashboard shows, once and as it changes (dx 3.8). */
export const streamRoutes = (stream: ReturnType<typeof createStream>, edge: OperatorEdge) =>
  new Elysia({ prefix: '/ops/v1' })
    .use(edge)
    .get('/stream', (context) => stream.open(toOperatorCall(context), context.query) as never, {
      holds: 'facts',
      query: checkedQuery(StreamQuery),
    })
    .get('/snapshot', (context) => stream.snapshot(toOperatorCall(context), context.query), {
      holds: 'facts',
      query: checkedQuery(StreamQuery),
      response: { 200: answer(Snapshots) },
    })
