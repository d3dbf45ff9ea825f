import type { Guard } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenant, tenantRoutes, verb } from '../http/verbs'
import { analyse } from './analytics'
import * as operators from './operators'
import * as words from './schema'
import * as chats from './schema-sessions'
import type { WidgetService } from './service'

const PATH = '/iframes/:id'
const CHATS = `${PATH}/conversations` as const
const CHAT = `${CHATS}/:sessionId` as const
/** Members with the visitor's identity, location and request. */
const VISITOR = ['identity', 'context', 'page_url', 'user_agent', 'origin', 'reason']
const which = ({ id, ids }: { id: string; ids: Record<string, string> }) => ({ id, sessionId: ids.sessionId ?? '' })

/** Routes for owners and their widgets (docs/api.md 15.1). */
const ownerVerbs = ({ widgets, deps, ...service }: WidgetService) =>
  [
    ...resourceVerbs(widgets),
    verb.post(
      `${PATH}/duplicate`,
      {
        body: words.Duplicate,
        reply: words.Widget,
        creates: true,
        errors: [404, 409],
        summary: 'Copy a chat widget',
      },
      (call, { id, body }) => service.duplicate(call, id, body),
    ),
    verb.post(
      `${PATH}/preview-token`,
      {
        reply: words.PreviewToken,
        errors: [404],
        summary: 'Create a link that shows a widget for 15 minutes, whatever its origins',
      },
      (call, { id }) => service.preview(call, id),
    ),
    verb.post(
      `${PATH}/identity-secret`,
      {
        reply: words.IdentitySecret,
        idempotent: true,
        errors: [404],
        summary:
          'Create the secret with which your server signs the identity of visitors; the previous one stops working',
      },
      (call, { id }) => service.identitySecret(call, id),
    ),
    verb.post(
      `${PATH}/verify`,
      {
        body: words.DomainCheck,
        reply: words.DomainChecked,
        errors: [404],
        summary: 'Check by DNS or a file whether you own a domain',
      },
      async (call, { id, body }) =>
        service.verifyDomain((await widgets.find(deps.store.read, call.caller, id)).id, body),
    ),
    verb.get(
      `${PATH}/analytics`,
      {
        holds: 'facts',
        query: words.AnalyticsQuery,
        reply: words.Analytics,
        errors: [404],
        summary: 'Read the statistics of a widget by day; default: the last 30 days',
      },
      async (call, { id, query }) =>
        analyse(deps.store.read, deps.clock, (await widgets.find(deps.store.read, call.caller, id)).id, query),
    ),
  ] as const

/** Routes for people who answer visitors' chats (docs/api.md 15.2). */
const chatVerbs = ({ deps }: WidgetService) =>
  [
    verb.get(
      CHATS,
      {
        holds: VISITOR,
        query: chats.WidgetSessionQuery,
        reply: chats.WidgetSessionPage,
        errors: [404],
        summary: 'List the conversations of a widget, last activity first',
      },
      (call, { id, query }) => operators.listChats(deps, call, id, query),
    ),
    verb.get(
      CHAT,
      {
        holds: 'content',
        query: chats.After,
        reply: chats.WidgetTranscript,
        errors: [404],
        summary: 'Read a conversation and its messages',
      },
      (call, request) => operators.readChat(deps, call, which(request), request.query.after),
    ),
    verb.post(
      `${CHAT}/takeover`,
      {
        body: chats.TakeoverInput,
        reply: chats.TakenOver,
        idempotent: true,
        role: 'support',
        errors: [404, 409],
        summary: 'Take over a conversation; the AI is silent until you release it',
      },
      (call, request) => operators.takeChat(deps, call, which(request), request.body),
    ),
    verb.post(
      `${CHAT}/messages`,
      {
        body: chats.OperatorMessage,
        reply: chats.StoredReply,
        creates: true,
        role: 'support',
        errors: [404, 409],
        summary: 'Write to the visitor in a conversation that you have taken over',
      },
      (call, request) => operators.sendToVisitor(deps, call, which(request), request.body.content),
    ),
    verb.post(
      `${CHAT}/typing`,
      {
        reply: chats.Typed,
        role: 'support',
        errors: [404, 409],
        summary: 'Show the visitor that you are typing',
      },
      (call, request) => operators.showTyping(deps, call, which(request)),
    ),
    verb.post(
      `${CHAT}/notes`,
      {
        body: chats.NewNote,
        reply: chats.Noted,
        creates: true,
        role: 'support',
        errors: [404, 409],
        summary: 'Write a note for other operators; the visitor never sees it',
      },
      (call, request) => operators.writeNote(deps, call, which(request), request.body),
    ),
    verb.post(
      `${CHAT}/handover`,
      {
        body: chats.Handover,
        reply: chats.TakenOver,
        idempotent: true,
        role: 'support',
        errors: [404, 409],
        summary: 'Hand your conversation over to another member of its team',
      },
      (call, request) => operators.handOver(deps, call, which(request), request.body),
    ),
    verb.post(
      `${CHAT}/draft`,
      {
        reply: chats.Drafted,
        idempotent: true,
        timeLimit: 'own',
        role: 'support',
        errors: [402, 404, 409],
        summary: "Ask the AI to draft a reply; nothing is sent, and the widget's key pays",
      },
      (call, request) => operators.draftReply(deps, call, which(request)),
    ),
    verb.post(
      `${CHAT}/release`,
      {
        ignored: true,
        reply: chats.TakeoverState,
        idempotent: true,
        role: 'support',
        errors: [404],
        summary: 'Release a conversation to the AI, from any state; the body is ignored',
      },
      (call, request) => operators.releaseChat(deps, call, which(request)),
    ),
    verb.post(
      `${CHAT}/close`,
      {
        reply: chats.WidgetSession,
        idempotent: true,
        role: 'support',
        errors: [404],
        summary: 'Close a conversation',
      },
      (call, request) => operators.closeChat(deps, call, which(request)),
    ),
  ] as const

/** The inbox: conversations of all widgets. */
const takeoversVerb = ({ deps, all }: WidgetService) =>
  tenant.get(
    '/takeovers',
    {
      query: chats.TakeoverQuery,
      reply: chats.TakeoverPage,
      summary: 'List the conversations of all your widgets, last activity first',
      description: 'With `q` a page can be short while `has_more` is true. Follow `next_cursor`.',
    },
    async (call, { query }) => operators.listTakeovers(deps, call, await all(call), query),
  )

const queueVerb = ({ deps }: WidgetService) =>
  verb.get(
    '/takeovers',
    {
      holds: VISITOR,
      query: chats.WidgetSessionQuery,
      reply: chats.WidgetSessionPage,
      summary: 'List the conversations of all widgets, last activity first',
    },
    (_, { query }) => operators.listAllChats(deps, query),
  )

export const widgetRoutes = (service: WidgetService, guard: Guard) =>
  tenantRoutes([...ownerVerbs(service), ...chatVerbs(service), takeoversVerb(service)], guard, {
    scope: 'completions',
    tag: 'Widgets',
  })

export const widgetOperatorVerbs = (service: WidgetService) =>
  [...ownerVerbs(service), ...chatVerbs(service), queueVerb(service)] as const
