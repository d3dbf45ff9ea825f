import { Elysia } from 'elysia'
import type { Downloads } from '../http/download'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery, t } from '../kernel/schema'
import { EXPORT_HEADERS } from './export'
import type { AuditReading } from './reading'
import { AuditEvent, Checkpoint, Integrity, OwnAuditExport, OwnAuditQuery, OwnRange, RecordScope } from './schema'

const RECORD = { scope: 'billing' } as const

/** The caller's audit log (docs/api.md 19). `GET /audit` returns a bare array, so paging is in headers. */
export const auditRoutes = ({ auditReading }: { auditReading: AuditReading }, download: Downloads, guard: Guard) =>
  new Elysia({ prefix: '/audit', tags: ['Audit'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const { query, set, request } = context
        const page = await auditReading.list(toCall(context), query)
        set.headers['x-has-more'] = String(page.next !== null)
        if (page.next !== null) {
          set.headers['x-next-cursor'] = page.next
          // The URL of the same request with the next cursor, relative to the origin.
          const [path = '', query = ''] = request.url
            .slice(request.url.indexOf('/', request.url.indexOf('://') + 3))
            .split('?')
          const params = new URLSearchParams(query)
          params.set('cursor', page.next)
          set.headers.link = `<${path}?${params}>; rel="next"`
        }
        return page.items
      },
      {
        ...RECORD,
        query: checkedQuery(OwnAuditQuery),
        response: { 200: answer(t.Array(AuditEvent)), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'List the audit events of your account, newest first',
          description:
            'A page can have fewer events than `limit` while `X-Has-More` is true, because a filter that matches few events ' +
            'is evaluated in steps. Follow `Link` until an answer has none.',
        },
      },
    )
    .get(
      '/export',
      (context) => {
        const { query, exchange, request, route } = context
        const source = auditReading.exportEvents(toCall(context), query)
        const headers = EXPORT_HEADERS[query.format]
        return download({ source, exchange, request, route, headers })
      },
      {
        ...RECORD,
        timeLimit: 'own',
        query: checkedQuery(OwnAuditExport),
        response: { 200: answer(t.String()), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'Export the audit events as CSV or JSON lines, newest first',
          description:
            'Summaries are exactly the text that was hashed. An export without filters, or filtered by dates only, can be ' +
            'verified offline with `svc-admin audit verify --export FILE --checkpoint FILE`. The export itself is recorded as an event.',
          'x-download': 'text/csv',
          'x-or-lines': true,
        } as object,
      },
    )
    .get('/integrity', (context) => auditReading.integrity(toCall(context), context.query), {
      ...RECORD,
      query: checkedQuery(OwnRange),
      response: { 200: answer(Integrity), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Verify the hash chain of the audit events',
        description:
          'Checks every event of the range against its hash and its neighbours, and the whole chain against its ' +
          'newest signed checkpoint.',
      },
    })
    .get('/checkpoint', (context) => auditReading.checkpoint(toCall(context), context.query), {
      ...RECORD,
      query: checkedQuery(RecordScope),
      response: { 200: answer(Checkpoint), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Read the newest signed checkpoint of the chain',
        description:
          'A checkpoint is signed within 60 seconds or 1,000 events of an event. With a saved checkpoint anyone can detect, ' +
          'without this server, that an earlier event was changed, removed or moved.',
      },
    })
