import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, maxAgeOf, toCall } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import type { Streams } from '../http/sse'
import { tenantRoutes } from '../http/verbs'
import type { Call, TenantCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import type { Page } from '../kernel/page'
import { checkedQuery, namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'
import { createSharedReads, SHARED_MS } from '../kernel/shared-reads'
import { type SseFrame, sseFrame } from '../kernel/stream'
import type { Resource } from '../resource'
import { RequestFilters, type RequestQuery, type RequestRow } from '../usage/schema'
import type { savedView } from './resource'

const KINDS = [
  ...(['visitor_waiting', 'approval_waiting', 'endpoint_failing', 'endpoint_off', 'cap_reached', 'cap_near'] as const),
  ...(['credit_low', 'hook_paused', 'key_expiring'] as const),
]
/** An item that waits for a person. */
const Need = namedObject('Need', {
  kind: oneOf(KINDS),
  severity: oneOf(['now', 'soon'] as const),
  text: t.String(),
  count: t.Integer({ minimum: 1 }),
  since: nullable(Timestamp),
  section: t.String({ description: 'The section of the console where it is settled' }),
  id: nullable(t.String()),
})
export type Need = Static<typeof Need>
const Needs = t.Object({ needs: t.Array(Need, { description: 'The most urgent first' }) })

const SearchResults = t.Object({
  results: t.Array(
    namedObject('SearchResult', {
      type: t.String(),
      id: t.String(),
      label: t.String(),
      section: t.String({ description: 'The section of the console that shows it' }),
    }),
    { description: 'At most 20' },
  ),
})
export type SearchResults = Static<typeof SearchResults>

const TOPICS = ['requests', 'takeovers', 'jobs', 'runs', 'deliveries', 'browser', 'needs', 'usage'] as const
type Topic = (typeof TOPICS)[number]
type Row = Record<string, unknown>
type State = { rows: readonly Row[]; facts?: Row }

const MAX_ROWS = 50
const NEVER = new AbortController().signal
/** Polling interval of topics, in ms. Slowly changing topics are read less often. */
const LOOK_MS = 1_000
const RARELY_MS: Partial<Record<Topic, number>> = { needs: 10_000, usage: 10_000, deliveries: 2_000 }
/** Requests are read again for this long, so that late writes are not missed. */
const OVERLAP_MS = 10_000

const FILTERS = 'requests.'
const LiveQuery = t.Object({
  topics: t.Union([oneOf(TOPICS), t.Array(oneOf(TOPICS), { minItems: 1, maxItems: 20 })], {
    description: 'Topics, separated by commas',
  }),
  ...(Object.fromEntries(
    Object.entries(RequestFilters.properties)
      .filter(([name]) => name !== 'from' && name !== 'to')
      .map(([name, schema]) => [FILTERS + name, schema]),
  ) as Record<`${typeof FILTERS}${string}`, never>),
})

export type Feed = {
  clock: Clock
  /** The current caller of the request. Throws 401 when the key or session has ended. */
  authenticate(headers: { authorization: string | null; cookie: string | null }): TenantCaller | Promise<TenantCaller>
  /** What depends on usage may be `maxAgeMs` old. */
  needs(call: Call, maxAgeMs: number): Promise<Need[]>
  search(call: Call, word: string): Promise<SearchResults>
  /** Requests and their number, and when they were read. */
  requests(call: Call, query: RequestQuery): Promise<{ at: number; found: Page<RequestRow> }>
  countRequests(call: Call, query: RequestFilters): Promise<{ found: { count: number } }>
  /** Reads each of the other topics. */
  topics: Record<Exclude<Topic, 'requests' | 'needs'>, (call: Call) => Promise<State>>
}

/** `/needs`, `/search`, and `/live`, which streams changes. */
export const liveRoutes = (feed: Feed, streams: Streams, guard: Guard) => {
  const sharedReads = createSharedReads(feed.clock)
  return new Elysia({ tags: ['Usage'] })
    .use(guard)
    .get('/needs', async (context) => ({ needs: await feed.needs(toCall(context), maxAgeOf(context)) }), {
      signedIn: true,
      response: { 200: answer(Needs), ...errors(401, 403, 429) },
      detail: { summary: 'List what waits for a person: visitors, approvals, failing endpoints, caps and credit' },
    })
    .get('/search', (context) => feed.search(toCall(context), context.query.q.trim()), {
      signedIn: true,
      query: checkedQuery(t.Object({ q: t.String({ minLength: 2, maxLength: 128, pattern: '\\S.*\\S' }) })),
      response: { 200: answer(SearchResults), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Find what you own by the beginning of its id or name' },
    })
    .get(
      '/live',
      (context) => {
        const call = toCall(context)
        const { exchange, request, route, query } = context
        const topics = [...new Set([query.topics].flat())]
        const filters = Object.fromEntries(
          Object.entries(query)
            .filter(([name]) => name.startsWith(FILTERS))
            .map(([name, value]) => [name.slice(FILTERS.length), value]),
        ) as RequestFilters
        return streams.open<SseFrame>({
          ...{ exchange, request, route },
          source: (write) => follow(feed, call, request, { topics, filters, sharedReads }, write),
          frame: sseFrame,
          follows: true,
          endsWithDone: false,
        }) as never
      },
      {
        signedIn: true,
        timeLimit: 'own',
        query: checkedQuery(LiveQuery),
        response: { 200: answer(t.String()), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'Follow what changes as server-sent events',
          description:
            'A `snapshot` of each topic, then a `delta` with a `seq` that grows by one: a gap means that something was ' +
            'missed. A delta has the `changed` rows and, where rows have gone, the ids in `order`. At most 50 requests a ' +
            'second are sent; `skipped` counts the rest. A filter of requests is sent as `requests.status=5xx`.',
          'x-download': 'text/event-stream',
        } as object,
      },
    )
}

/** `/views`, for tenants and operators. */
export const viewRoutes = (views: Resource<typeof savedView>, guard: Guard) =>
  tenantRoutes(resourceVerbs(views), guard, { scope: 'completions', tag: 'Saved views' })

type Watching = {
  topics: readonly Topic[]
  filters: RequestFilters
  sharedReads: ReturnType<typeof createSharedReads>
}
/** Writes a topic whenever it has changed, while the reader is connected and may read it. */
async function follow(
  feed: Feed,
  call: Call,
  { headers, signal }: Request,
  { topics, filters, sharedReads }: Watching,
  write: (item: SseFrame) => void | Promise<void>,
) {
  const { clock } = feed
  const credentials = { authorization: headers.get('authorization'), cookie: headers.get('cookie') }
  const read: Record<Exclude<Topic, 'requests'>, (call: Call) => Promise<State>> = {
    ...feed.topics,
    needs: async (by) => ({
      rows: (await feed.needs(by, SHARED_MS)).map((need) => ({ ...need, id: `${need.kind} ${need.id}` })),
    }),
  }
  // Streams of one caller, such as the tabs of a person, share what they read.
  const { type, userId, activeOrgId, ...rest } = call.caller as TenantCaller & { keyId?: string }
  const who = [type, userId, activeOrgId, rest.keyId].join(' ')
  const watched = topics.map((topic) => ({
    topic,
    dueAt: 0,
    next:
      topic === 'requests'
        ? requestsNews(feed, filters)
        : news(
            topic,
            async (by) => (await sharedReads(`${who} ${topic}`, () => read[topic]({ ...by, signal: NEVER }))).found,
          ),
  }))
  while (!signal.aborted) {
    await feed.authenticate(credentials)
    for (const one of watched) {
      if (one.dueAt > clock.now() || signal.aborted) continue
      // All streams look within the same second, so that they share what they read.
      const everyMs = RARELY_MS[one.topic] ?? 1
      one.dueAt = clock.now() - (clock.now() % everyMs) + everyMs
      const event = await one.next(call)
      if (event) await write({ event: event.type, data: { ...event, topic: one.topic, at: iso(clock.now()) } })
    }
    await clock.sleep(LOOK_MS, signal)
    // Streams that were opened together do not look in the same turn, in which calls would wait for all of them.
    await nextTurn()
  }
}

type News = { type: 'snapshot' | 'delta'; seq: number } & Row

/** Finds changed rows of a list with ids. */
function news(topic: Topic, read: (call: Call) => Promise<State>) {
  let [seq, facts, order] = [0, '', '']
  let rows = new Map<unknown, string>()
  return async (call: Call): Promise<News | null> => {
    const found = await read(call).catch((error: unknown) => {
      // A topic that the reader may not see is empty. The others continue.
      if (error instanceof AppError && error.kind === 'forbidden') return { rows: [] }
      throw error
    })
    const all = found.rows.slice(0, MAX_ROWS)
    const texts = new Map(all.map((row) => [row.id, JSON.stringify(row)]))
    const changed = all.filter(({ id }) => rows.get(id) !== texts.get(id))
    const [newFacts, ids] = [JSON.stringify('facts' in found ? found.facts : {}), all.map(({ id }) => id)]
    const [hasFacts, hasOrder] = [newFacts !== facts, ids.join(' ') !== order]
    ;[rows, facts, order] = [texts, newFacts, ids.join(' ')]
    if (seq === 0) return { type: 'snapshot', seq: ++seq, topic, facts: JSON.parse(newFacts), rows: all }
    if (!changed.length && !hasFacts && !hasOrder) return null
    const more = { ...(hasFacts ? { facts: JSON.parse(newFacts) } : {}), ...(hasOrder ? { order: ids } : {}) }
    return { type: 'delta', seq: ++seq, topic, changed, ...more }
  }
}

/** Requests answered since the last look. */
function requestsNews({ clock, requests, countRequests }: Feed, filters: RequestFilters) {
  let [seq, lookedAt] = [0, 0]
  let known = new Set<string>()
  return async (call: Call): Promise<News | null> => {
    const now = clock.now()
    const from = seq === 0 ? {} : { from: iso(Math.min(lookedAt, now) - OVERLAP_MS) }
    const query = { ...filters, ...from, limit: 2 * MAX_ROWS }
    const { at, found } = await requests(call, query)
    const { items, next } = found
    const fresh = items.filter(({ request_id }) => !known.has(request_id))
    const skipped =
      seq > 0 && next !== null && fresh.length === items.length
        ? Math.max(0, (await countRequests(call, { ...filters, from: iso(lookedAt) })).found.count - MAX_ROWS)
        : Math.max(0, fresh.length - MAX_ROWS)
    known = new Set(items.map(({ request_id }) => request_id))
    lookedAt = at
    const rows = fresh.slice(0, MAX_ROWS)
    if (seq === 0) return { type: 'snapshot', seq: ++seq, rows }
    return rows.length ? { type: 'delta', seq: ++seq, changed: rows, skipped } : null
  }
}
