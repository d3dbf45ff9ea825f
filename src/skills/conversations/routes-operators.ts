import type { OperatorEdge } from '../../http/operator-edge'
import { operatorRoutes, verb } from '../../http/verbs'
import type { Call, OperatorCaller } from '../../kernel/caller'
import {
  ConversationPurge,
  ConversationReply,
  ConversationsPurged,
  Deleted,
  OverseenPage,
  OverseenQuery,
  OverseenReply,
} from './schema'
import type { ConversationService } from './service'

/** `/ops/v1/conversations`: those of everyone (dx 2.14). */
export const conversationOperatorRoutes = ({ operatorAccess }: ConversationService, edge: OperatorEdge) =>
  operatorRoutes(
    [
      verb(
        {
          method: 'get',
          path: '/conversations',
          holds: 'facts',
          query: OverseenQuery,
          reply: OverseenPage,
          owned: true,
          summary: 'List the conversations of everyone, last updated first',
        },
        (call, { query, owner }) => operatorAccess.list(call as Call<OperatorCaller>, query, owner),
      ),
      verb(
        {
          method: 'get',
          path: '/conversations/:id',
          holds: 'facts',
          reply: OverseenReply,
          summary: 'Read whose a conversation is',
        },
        (_, { id }) => operatorAccess.get(id),
      ),
      verb(
        {
          method: 'get',
          path: '/conversations/:id/messages',
          holds: 'content',
          reply: ConversationReply,
          // It shows what people wrote.
          role: 'support',
          summary: 'Read a conversation with its messages, which is recorded',
        },
        (call, { id }) => operatorAccess.read(call as Call<OperatorCaller>, id),
      ),
      verb(
        {
          method: 'delete',
          path: '/conversations/:id',
          reply: Deleted,
          summary: 'Delete a conversation and its messages',
        },
        (call, { id }) => operatorAccess.remove(call as Call<OperatorCaller>, id),
      ),
      verb(
        {
          method: 'post',
          path: '/conversations/purge',
          body: ConversationPurge,
          reply: ConversationsPurged,
          summary: 'Delete the conversations of an owner that are older than a moment',
        },
        (call, { body }) => operatorAccess.purge(call as Call<OperatorCaller>, body),
      ),
    ] as const,
    edge,
  )
