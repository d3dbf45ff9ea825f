import { Elysia } from 'elysia'
import type { Downloads } from '../http/download'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery, t } from '../kernel/schema'
import { EXPORT_HEADERS } from './export'
import type { AuditReading } from './reading'
import { AuditEvent, Checkpoint, Integrity, OwnAuditExport, OwnAuditQuery, OwnRange, RecordScope } from './schema'

type Deps = { auditReading: AuditReading }

const RECORD = { scope: 'billing' } as const

/** The audit log of the caller's account (contract 19). `GET /audit` is a bare array, so paging is in headers. */
export const auditRoutes = ({ auditReading }: Deps, download: Downloads, guard: Guard) =>
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
          set.headers.link = `<${nextAddress(request.url, page.next)}>; rel="next"`
        }
        return page.items
      },
      {
        ...RECORD,
        query: checkedQuery(OwnAuditQuery),
        response: { 200: answer(t.Array(AuditEvent)), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'The record of your account, newest first',
          description:
            'A page may hold fewer events than `limit` while `X-Has-More` is true: a filter that matches little ' +
            'is read in steps. Follow `Link` until it is gone.',
        },
      },
    )
    .get(
      '/export',
      (context) => {
        const { query, exchange, request, server, route } = context
        const source = auditReading.exportEvents(toCall(context), query)
        const headers = EXPORT_HEADERS[query.format]
        return download({ source, exchange, request, server, route, headers })
      },
      {
        ...RECORD,
        query: checkedQuery(OwnAuditExport),
        response: { 200: answer(t.String()), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'The record as CSV, or JSON lines, newest first',
          description:
            'Summaries are the very text that was hashed: an export without filters, or with dates only, can be ' +
            'verified offline with `svc-admin audit verify --export FILE --checkpoint FILE`. The export is recorded.',
          'x-download': 'text/csv',
        } as object,
      },
    )
    .get('/integrity', (context) => auditReading.integrity(toCall(context), context.query), {
      ...RECORD,
      query: checkedQuery(OwnRange),
      response: { 200: answer(Integrity), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Compute the chain again and say whether it holds',
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
        summary: 'The newest signed checkpoint of the chain, to keep',
        description:
          'Made within 60 seconds of an event, or 1,000 events. Whatever is changed, cut or moved in the events ' +
          'before it is found from it, by anyone, without this server.',
      },
    })

/** The URL of the same request with the next cursor, relative to the origin. */
function nextAddress(url: string, cursor: string): string {
  const [path = '', query = ''] = url.slice(url.indexOf('/', url.indexOf('://') + 3)).split('?')
  const params = new URLSearchParams(query)
  params.set('cursor', cursor)
  return `${path}?${params}`
}
