import type { Guard } from '../../http/guard'
import { operator, tenant, tenantRoutes, verb } from '../../http/verbs'
import { PageQuery } from '../../kernel/page'
import type { MemoryService } from './memory'
import * as words from './schema'
import type { ConversationService } from './service'

const ONE = '/conversations/:id'

/** `/conversations` (docs/api.md 17). Operators see the conversations of all owners (docs/operating.md 2.14). */
export const conversationVerbs = (conversations: ConversationService) => [
  verb.get(
    '/conversations',
    {
      query: words.ConversationQuery,
      reply: words.ConversationPage,
      holds: 'facts',
      owned: true,
      operators: { query: words.OverseenQuery, reply: words.OverseenPage },
      summary: 'List your conversations, last updated first',
    },
    (call, { query, owner }) => conversations.list(call, query, owner),
  ),
  tenant.get(
    ONE,
    {
      reply: words.ConversationReply,
      errors: [404],
      summary: 'Read one conversation with its messages',
    },
    (call, { id }) => conversations.get(call, id),
  ),
  operator.get(ONE, { holds: 'facts', reply: words.OverseenReply }, (call, { id }) => conversations.outlined(call, id)),
  // Shows the messages people wrote. The read is audited.
  operator.get(
    `${ONE}/messages`,
    { holds: 'content', reply: words.ConversationReply, role: 'support' },
    (call, { id }) => conversations.get(call, id),
  ),
  tenant.patch(
    ONE,
    {
      body: words.RenameConversation,
      reply: words.ConversationSummaryReply,
      errors: [404],
      summary: 'Rename a conversation',
    },
    (call, { id, body }) => conversations.rename(call, id, body),
  ),
  verb.delete(
    ONE,
    {
      reply: words.ConversationDeleted,
      errors: [404],
      summary: 'Delete a conversation and its messages',
    },
    (call, { id }) => conversations.remove(call, id),
  ),
  operator.post(
    '/conversations/purge',
    {
      body: words.ConversationPurge,
      reply: words.ConversationsPurged,
    },
    (call, { body }) => conversations.purge(call, body),
  ),
]

export const conversationRoutes = (conversations: ConversationService, guard: Guard) =>
  tenantRoutes(conversationVerbs(conversations), guard, { scope: 'completions', tag: 'Conversations' })

/** `/memory`: the user's memories (docs/api.md 17). */
export const memoryRoutes = (memory: MemoryService, guard: Guard) =>
  tenantRoutes(
    [
      tenant.get(
        '/memory',
        {
          query: PageQuery,
          reply: words.MemoryPage,
          summary: 'List the memories of your account, newest first',
        },
        (call, { query }) => memory.list(call, query),
      ),
      tenant.post(
        '/memory',
        {
          body: words.NewMemory,
          reply: words.MemoryReply,
          creates: true,
          errors: [409],
          summary: 'Store a memory for later answers',
        },
        (call, { body }) => memory.add(call, body, 'api'),
      ),
      tenant.delete(
        '/memory/:id',
        { reply: words.Deleted, errors: [404], summary: 'Delete one memory' },
        (call, { id }) => memory.remove(call, id),
      ),
    ],
    guard,
    { scope: 'completions', tag: 'Memory' },
  )
