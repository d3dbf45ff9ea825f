import { Elysia } from 'elysia'
import { nativeFramer } from '../completions'
import type { Exchange } from '../http/context'
import { answer, errors } from '../http/envelope'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import { checked, checkedPath, checkedQuery, described, t } from '../kernel/schema'
import { sseFrame } from '../kernel/stream'
import { chatFrame, lastEventOf } from './hub'
import { identifyVisitor } from './identity'
import { PublicWidget } from './schema'
import * as words from './schema-sessions'
import type { WidgetService } from './service'
import { bearerOf, enterChat, type VisitorRequest } from './visitor-auth'
import type { StreamedReply } from './visitors'
import * as visitors from './visitors'

type Context = { exchange: Exchange; request: Request; route: string; params: { id?: string; sessionId?: string } }

const OfWidget = checkedPath(t.Object({ id: t.String() }))
const OfChat = checkedPath(t.Object({ id: t.String(), sessionId: t.String() }))
/** Maximum body size, including pictures. */
const MESSAGE_BYTES = 4 * 1024 * 1024

/** The visitor's request: from headers that browsers set, and the token of the chat. */
function visitorRequestOf({ exchange, request, route, params }: Context): VisitorRequest {
  const { headers, method, signal } = request
  return {
    id: params.id ?? '',
    page: { origin: headers.get('origin'), host: headers.get('host'), fetchSite: headers.get('sec-fetch-site') },
    ip: exchange.ip(),
    userAgent: headers.get('user-agent'),
    token: bearerOf(headers.get('authorization')),
    reads: method === 'GET' || method === 'HEAD',
    requestId: exchange.requestId,
    route: `${method} ${route.replace('/api/v1', '')}`,
    signal,
    known: () => exchange.known(),
    readable: (origin) => {
      exchange.readers = [origin]
    },
  }
}

/** Routes for visitors' pages (docs/api.md 15.3). They only need the widget's origin and the chat's token. */
export const visitorRoutes = ({ deps, hub }: WidgetService, streams: Streams, guard: Guard) => {
  const admit = (context: Context) => enterChat(deps, visitorRequestOf(context), context.params.sessionId ?? '')
  return new Elysia({ prefix: '/iframes/:id', tags: ['Widget visitors'] })
    .use(guard)
    .get('/public', (context) => visitors.describeWidget(deps, visitorRequestOf(context)), {
      open: true,
      params: OfWidget,
      response: { 200: answer(PublicWidget), ...errors(400, 403, 404) },
      detail: { summary: 'Read the design and the settings of a widget' },
    })
    .post(
      '/sessions',
      async (context) => context.status(201, await visitors.beginChat(deps, visitorRequestOf(context), context.body)),
      {
        open: true,
        params: OfWidget,
        body: checked(words.NewWidgetSession),
        response: { 201: answer(words.WidgetSessionMade), ...errors(400, 401, 403, 404, 413, 415, 429) },
        detail: { summary: 'Start a chat' },
      },
    )
    .get(
      '/sessions/:sessionId',
      (context) => visitors.readOwnChat(deps, visitorRequestOf(context), context.params.sessionId, context.query.after),
      {
        open: true,
        params: OfChat,
        query: checkedQuery(words.After),
        response: { 200: answer(words.VisitorView), ...errors(400, 401, 403, 404) },
        detail: { summary: 'Read a chat with its token' },
      },
    )
    .post(
      '/sessions/:sessionId/messages',
      async ({ exchange, request, route, params, body }) => {
        const visitorRequest = visitorRequestOf({ exchange, request, route, params })
        exchange.keepOpen()
        const answering = await visitors.sendToWidget(deps, visitorRequest, params.sessionId, body)
        if ('now' in answering) return answering.now
        const { frame, heartbeat } = nativeFramer()
        return streams.open<StreamedReply>({
          exchange,
          request,
          route,
          source: (write) => answering.stream(write),
          frame: (shown) => (shown.type === 'reply' ? sseFrame({ event: 'reply', data: shown.replied }) : frame(shown)),
          heartbeat,
          endsWithDone: false,
        }) as never
      },
      {
        open: true,
        admit,
        upTo: MESSAGE_BYTES,
        timeLimit: 'own',
        params: OfChat,
        body: checked(words.VisitorMessage),
        response: {
          200: answer(words.Replied),
          ...errors(400, 401, 403, 404, 409, 413, 415, 429, 500, 503, 504),
        },
        detail: {
          summary: 'Say something',
          description:
            'With `stream: true` an answer of the AI is `text/event-stream` as that of `/completions`, with an event `reply` before `done`. While a person has the chat, the answer is plain JSON and `reply` is null.',
          'x-streams': true,
        } as object,
      },
    )
    .get(
      '/sessions/:sessionId/events',
      async ({ exchange, request, route, params }) => {
        const { session } = await enterChat(
          deps,
          visitorRequestOf({ exchange, request, route, params }),
          params.sessionId,
        )
        hub.assertMayFollow(session)
        const after = lastEventOf(request.headers.get('last-event-id'))
        return streams.open({
          exchange,
          request,
          route,
          source: (write) => hub.follow(session, after, write, request.signal),
          frame: chatFrame,
          follows: true,
          endsWithDone: false,
        }) as never
      },
      {
        open: true,
        timeLimit: 'own',
        params: OfChat,
        response: { 200: described(words.ChatEvent), ...errors(401, 403, 404, 429) },
        detail: {
          summary: 'Follow a chat',
          description:
            'Events `message`, `takeover`, `typing` and `closed`, with a comment every few seconds. `Last-Event-ID` resumes after a message.',
          'x-streams': 'only',
        } as object,
      },
    )
    .post(
      '/sessions/:sessionId/typing',
      (context) => visitors.typeInChat(deps, visitorRequestOf(context), context.params.sessionId),
      {
        open: true,
        params: OfChat,
        response: { 200: answer(words.Typed), ...errors(401, 403, 404) },
        detail: {
          summary: 'Show that the visitor is typing',
          description: 'Shown to operators for a few seconds, and not stored.',
        },
      },
    )
    .post(
      '/sessions/:sessionId/request-human',
      (context) => visitors.requestHuman(deps, visitorRequestOf(context), context.params.sessionId, context.body),
      {
        open: true,
        admit,
        params: OfChat,
        body: checked(words.HumanWanted),
        response: { 200: answer(words.TakeoverState), ...errors(400, 401, 403, 404, 409, 413, 415) },
        detail: { summary: 'Ask for a person' },
      },
    )
    .post(
      '/sessions/:sessionId/identify',
      (context) => identifyVisitor(deps, visitorRequestOf(context), context.params.sessionId, context.body),
      {
        open: true,
        admit,
        params: OfChat,
        body: checked(words.IdentityInput),
        response: { 200: answer(words.Identified), ...errors(400, 401, 403, 404, 409, 413, 415) },
        detail: {
          summary: 'Identify the visitor',
          description:
            'Without `hash` the identity is stored as unverified. `hash` is `<until>.<hex>`: `until` in Unix seconds, and HMAC-SHA256 with the identity secret of the widget over the four lines until, external_id, email and name.',
        },
      },
    )
    .post(
      '/sessions/:sessionId/feedback',
      (context) => visitors.rateChat(deps, visitorRequestOf(context), context.params.sessionId, context.body),
      {
        open: true,
        admit,
        params: OfChat,
        body: checked(words.Feedback),
        response: { 200: answer(words.Recorded), ...errors(400, 401, 403, 404, 413, 415) },
        detail: { summary: 'Rate a chat' },
      },
    )
}
