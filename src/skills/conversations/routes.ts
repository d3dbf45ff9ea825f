import type { Guard } from '../../http/guard'
import type { OperatorEdge } from '../../http/operator-edge'
import { operatorRoutes, tenantRoutes, tenantVerb, verb } from '../../http/verbs'
import type { Call, OperatorCaller } from '../../kernel/caller'
import { PageQuery } from '../../kernel/page'
import type { MemoryService } from './memory'
import * as words from './schema'
import type { ConversationService } from './service'

const ONE = '/conversations/:id'

const removeVerb = (conversations: ConversationService) =>
  verb(
    {
      method: 'delete',
      path: ONE,
      reply: words.Deleted,
      errors: [404],
      summary: 'Delete a conversation and its messages',
    },
    (call, { id }) => conversations.remove(call, id),
  )

export const conversationRoutes = (conversations: ConversationService, guard: Guard) =>
  tenantRoutes(
    [
      tenantVerb(
        {
          method: 'get',
          path: '/conversations',
          query: words.ConversationQuery,
          reply: words.ConversationPage,
          summary: 'List your conversations, last updated first',
        },
        (call, { query }) => conversations.list(call, query),
      ),
      tenantVerb(
        {
          method: 'get',
          path: ONE,
          reply: words.ConversationReply,
          errors: [404],
          summary: 'Read one conversation with its messages',
        },
        (call, { id }) => conversations.get(call, id),
      ),
      tenantVerb(
        {
          method: 'patch',
          path: ONE,
          body: words.RenameConversation,
          reply: words.ConversationSummaryReply,
          errors: [404],
          summary: 'Rename a conversation',
        },
        (call, { id, body }) => conversations.rename(call, id, body),
      ),
      removeVerb(conversations),
    ],
    guard,
    { scope: 'completions', tag: 'Conversations' },
  )

/** `/memory`: the user's memories (contract 17). */
export const memoryRoutes = (memory: MemoryService, guard: Guard) =>
  tenantRoutes(
    [
      tenantVerb(
        {
          method: 'get',
          path: '/memory',
          query: PageQuery,
          reply: words.MemoryPage,
          summary: 'List the memories of your account, newest first',
        },
        (call, { query }) => memory.list(call, query),
      ),
      tenantVerb(
        {
          method: 'post',
          path: '/memory',
          body: words.NewMemory,
          reply: words.MemoryReply,
          creates: true,
          errors: [409],
          summary: 'Store a memory for later answers',
        },
        (call, { body }) => memory.add(call, body, 'api'),
      ),
      tenantVerb(
        { method: 'delete', path: '/memory/:id', reply: words.Deleted, errors: [404], summary: 'Delete one memory' },
        (call, { id }) => memory.remove(call, id),
      ),
    ],
    guard,
    { scope: 'completions', tag: 'Memory' },
  )

/** `/ops/v1/conversations`: those of everyone (dx 2.14). */
export const conversationOperatorRoutes = (conversations: ConversationService, edge: OperatorEdge) =>
  operatorRoutes(
    [
      verb(
        {
          method: 'get',
          path: '/conversations',
          holds: 'facts',
          query: words.OverseenQuery,
          reply: words.OverseenPage,
          owned: true,
          summary: 'List the conversations of everyone, last updated first',
        },
        (call, { query, owner }) => conversations.listAll(call as Call<OperatorCaller>, query, owner),
      ),
      verb(
        {
          method: 'get',
          path: ONE,
          holds: 'facts',
          reply: words.OverseenReply,
          summary: 'Read whose a conversation is',
        },
        (call, { id }) => conversations.outlined(call, id),
      ),
      verb(
        {
          method: 'get',
          path: `${ONE}/messages`,
          holds: 'content',
          reply: words.ConversationReply,
          // It shows what people wrote.
          role: 'support',
          summary: 'Read a conversation with its messages, which is recorded',
        },
        (call, { id }) => conversations.get(call, id),
      ),
      removeVerb(conversations),
      verb(
        {
          method: 'post',
          path: '/conversations/purge',
          body: words.ConversationPurge,
          reply: words.ConversationsPurged,
          summary: 'Delete the conversations of an owner that are older than a moment',
        },
        (call, { body }) => conversations.purge(call, body),
      ),
    ],
    edge,
  )
