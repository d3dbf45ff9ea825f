import { Elysia } from 'elysia'
import type { Downloads } from '../http/download'
import { answer, errors } from '../http/envelope'
import { type Guard, maxAgeOf, toCall } from '../http/guard'
import { pageAs } from '../kernel/page'
import { checkedQuery, t } from '../kernel/schema'
import type { BenchmarkService } from './benchmarks'
import { EXPORT_HEADERS } from './export'
import type { UsageReading } from './reading'
import {
  BenchmarkQuery,
  Benchmarks,
  RequestCount,
  RequestDetail,
  RequestFilters,
  RequestPage,
  RequestQuery,
  SeriesQuery,
  UsageExport,
  UsageExportQuery,
  UsageQuery,
  UsageReport,
  UsageSeries,
} from './schema'

/** Speed and quality of the caller's calls (docs/api.md 21). */
export const benchmarkRoutes = ({ benchmarks }: { benchmarks: BenchmarkService }, guard: Guard) =>
  new Elysia({ tags: ['Usage'] })
    .use(guard)
    .get('/benchmarks', (context) => benchmarks.read(toCall(context), context.query.window), {
      signedIn: true,
      query: checkedQuery(BenchmarkQuery),
      response: { 200: answer(Benchmarks), ...errors(400, 401, 429) },
      detail: {
        summary: 'Read the latency of your calls, by mode',
        description:
          "Counts the account's own calls in whole hours up to and including the current one; percentiles are less than 1 % off. " +
          'Figures are cached for five seconds.',
      },
    })

type Deps = { usageReading: UsageReading }

/** Requests may share what was read, and the edge writes the id of each into its answer. */
const ownCopy = async <T extends object>(found: Promise<T>): Promise<T> => ({ ...(await found) })

/** Single calls, as recorded. */
export const requestRoutes = ({ usageReading }: Deps, guard: Guard) =>
  new Elysia({ prefix: '/requests', tags: ['Usage'] })
    .use(guard)
    .get('', async (context) => pageAs('requests', await usageReading.requests(toCall(context), context.query)), {
      signedIn: true,
      query: checkedQuery(RequestQuery),
      response: { 200: answer(RequestPage), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'List your calls, newest first',
        description:
          'Default: the last 30 days; `from` and `to` may span at most 366 days. A key lists its own calls, a session those ' +
          'of the account or the active organization. A page can have fewer calls than `limit` while `has_more` is true, ' +
          'because a filter that matches few calls is evaluated in steps. Follow `next_cursor` until it is null. ' +
          'A member of the `metadata` of requests is a filter too: `metadata.team=search`.',
      },
    })
    .get('/count', (context) => usageReading.countRequests(toCall(context), context.query), {
      signedIn: true,
      query: checkedQuery(RequestFilters),
      response: { 200: answer(RequestCount), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Count your calls, up to 10,000', description: 'The filters are those of `GET /requests`.' },
    })
    .get('/:id', (context) => usageReading.request(toCall(context), context.params.id), {
      signedIn: true,
      params: checkedQuery(t.Object({ id: t.String() })),
      response: { 200: answer(RequestDetail), ...errors(401, 403, 404, 429, 503) },
      detail: {
        summary: 'Read one call and how its time was spent',
        description: 'Finds calls of the last 92 days. The audit events of a call have the same `request_id`.',
      },
    })

/** Reports and exports of calls with their cost (docs/api.md 18.1). */
export const usageRoutes = ({ usageReading }: Deps, download: Downloads, guard: Guard) =>
  new Elysia({ prefix: '/usage', tags: ['Usage'] })
    .use(guard)
    .get('', (context) => ownCopy(usageReading.report(toCall(context), context.query, maxAgeOf(context))), {
      signedIn: true,
      query: checkedQuery(UsageQuery),
      response: { 200: answer(UsageReport), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Report usage by mode, model, skill and day',
        description:
          'Default: the last 30 days; `from` and `to` may span at most 366 days. Counts and costs are exact up to the ' +
          'moment of the request; latencies are less than 1 % off.',
      },
    })
    .get('/series', (context) => ownCopy(usageReading.series(toCall(context), context.query, maxAgeOf(context))), {
      signedIn: true,
      query: checkedQuery(SeriesQuery),
      response: { 200: answer(UsageSeries), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Read usage as one figure per bucket of time',
        description:
          'At most 400 buckets. By mode, model, key or skill, the figures are sums that are exact up to the moment of the ' +
          'request. By person, endpoint or status, and with filters such as `status`, single calls are added up for a ' +
          'fraction of a second, newest first: buckets before `known_from` are null, and the totals count what is known. ' +
          "`saved_cents` is what cached answers would have cost at today's prices.",
      },
    })
    .get(
      '/export',
      (context) => {
        const { query, exchange, request, route } = context
        const source = usageReading.exportCalls(toCall(context), query)
        const headers = EXPORT_HEADERS[query.format]
        return download({ source, exchange, request, route, headers })
      },
      {
        scope: 'billing',
        timeLimit: 'own',
        query: checkedQuery(UsageExportQuery),
        response: { 200: answer(UsageExport), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'Export every call as CSV, JSON or JSON lines, newest first',
          description:
            'The filters are those of `GET /requests`, `metadata.NAME=VALUE` among them. ' +
            'At most 92 days and 1,000,000 rows; larger exports get 400 before anything is sent. Text that a ' +
            'spreadsheet would read as a formula is prefixed with an apostrophe. The export is recorded in the audit events.',
          'x-download': 'text/csv',
          'x-or-lines': true,
          'x-or-json': true,
        } as object,
      },
    )
