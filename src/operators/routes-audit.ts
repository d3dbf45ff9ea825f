import { Elysia } from 'elysia'
import { EXPORT_HEADERS } from '../audit'
import { AuditHead, ChainCheck, ExportSignature } from '../audit/schema'
import { answer, errors } from '../http/envelope'
import { type OperatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checkedQuery, t } from '../kernel/schema'
import { exportResponse } from './export-response'
import * as words from './schema'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))

/** `/ops/v1/audit`: the record of any owner, and of the server (dx 2.17). */
export const auditRoutes = (audit: OperatorService['audit'], edge: OperatorEdge) =>
  new Elysia({ prefix: '/ops/v1/audit' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await audit.list(toOperatorCall(context), context.query)
        return { events: page.items, ...pageFields(page) }
      },
      {
        holds: ['metadata'],
        query: checkedQuery(words.OperatorAuditQuery),
        response: { 200: answer(words.AuditPage), ...errors(400, 404) },
      },
    )
    .get(
      '/export',
      (context) =>
        exportResponse(
          audit.exportEvents(toOperatorCall(context), context.query),
          EXPORT_HEADERS[context.query.format],
        ),
      {
        holds: 'content',
        query: checkedQuery(words.OperatorAuditExport),
        response: { 200: answer(t.String()), ...errors(400, 404) },
      },
    )
    .get('/signatures/:ref', (context) => audit.signatureOf(context.params.ref), {
      holds: 'facts',
      params: ByRef,
      response: { 200: answer(ExportSignature), ...errors(404) },
    })
    .get('/head', (context) => audit.head(toOperatorCall(context), context.query.owner), {
      holds: 'facts',
      query: checkedQuery(words.ChainQuery),
      response: { 200: answer(AuditHead), ...errors(404) },
    })
    .get(
      '/actions',
      async (context) => ({ actions: await audit.actions(toOperatorCall(context), context.query.owner) }),
      {
        holds: 'facts',
        query: checkedQuery(words.ChainQuery),
        response: { 200: answer(words.ActionCounts), ...errors(404) },
      },
    )
    .post('/check', (context) => audit.check(toOperatorCall(context), context.query), {
      query: checkedQuery(words.CheckQuery),
      response: { 200: answer(ChainCheck), ...errors(400, 404) },
    })
