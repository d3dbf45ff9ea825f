import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { checkedQuery, t } from '../kernel/schema'
import { EXPORT_HEADERS } from '../usage'
import { exportResponse } from './export-response'
import { OperatorUsage, OperatorUsageExportQuery, OperatorUsageQuery } from './schema-usage'
import type { OperatorService } from './service'

/** Usage of any owner (dx 2.16). */
export const usageRoutes = (usage: OperatorService['usage'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/usage' })
    .use(edge)
    .get('', (context) => usage.show(toOperatorCall(context), context.query), {
      holds: 'facts',
      query: checkedQuery(OperatorUsageQuery),
      response: { 200: answer(OperatorUsage), ...errors(400, 404, 409) },
    })
    .get(
      '/export',
      (context) =>
        exportResponse(usage.exportCalls(toOperatorCall(context), context.query), EXPORT_HEADERS[context.query.format]),
      {
        holds: 'facts',
        query: checkedQuery(OperatorUsageExportQuery),
        response: { 200: answer(t.String()), ...errors(400, 404, 409) },
      },
    )
