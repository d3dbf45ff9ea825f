import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { checkedQuery, t } from '../kernel/schema'
import { EXPORT_HEADERS } from '../usage'
import { OperatorUsage, OperatorUsageExportQuery, OperatorUsageQuery } from './schema-usage'
import type { OperatorService } from './service'

/** Usage of any owner (dx 2.16). */
export const usageRoutes = (usage: OperatorService['usage'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/usage' })
    .use(edge)
    .get('', (context) => usage.show(toOperatorCall(context), context.query), {
      query: checkedQuery(OperatorUsageQuery),
      response: { 200: answer(OperatorUsage), ...errors(400, 404, 409) },
    })
    .get(
      '/export',
      async (context) => {
        const pieces = usage.exportCalls(toOperatorCall(context), context.query)
        const first = await pieces.next()
        const headers = EXPORT_HEADERS[context.query.format]
        return new Response(joined(first, pieces) as unknown as BodyInit, { headers })
      },
      {
        query: checkedQuery(OperatorUsageExportQuery),
        response: { 200: answer(t.String()), ...errors(400, 404, 409) },
      },
    )

/** The first piece is read before the response starts, so that an error before it keeps its own status. */
async function* joined(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value
  yield* rest
}
