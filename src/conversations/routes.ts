import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import {
  ConversationPage,
  ConversationQuery,
  ConversationReply,
  ConversationSummaryReply,
  Deleted,
  RenameConversation,
} from './schema'
import type { ConversationService } from './service'

const ById = checkedQuery(t.Object({ id: t.String() }))

export const conversationRoutes = (conversations: ConversationService, guard: Guard) =>
  new Elysia({ prefix: '/conversations', tags: ['Conversations'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const page = await conversations.list(toCall(context), context.query)
        return { conversations: page.items, ...pageFields(page) }
      },
      {
        scope: 'completions',
        query: checkedQuery(ConversationQuery),
        response: { 200: answer(ConversationPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List your conversations, last updated first' },
      },
    )
    .get('/:id', async (context) => ({ conversation: await conversations.get(toCall(context), context.params.id) }), {
      scope: 'completions',
      params: ById,
      response: { 200: answer(ConversationReply), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one conversation with its messages' },
    })
    .patch(
      '/:id',
      async (context) => ({
        conversation: await conversations.rename(toCall(context), context.params.id, context.body),
      }),
      {
        scope: 'completions',
        params: ById,
        body: checked(RenameConversation),
        response: { 200: answer(ConversationSummaryReply), ...errors(400, 401, 403, 404, 429) },
        detail: { summary: 'Rename a conversation' },
      },
    )
    .delete(
      '/:id',
      async (context) => {
        await conversations.remove(toCall(context), context.params.id)
        return { deleted: true as const }
      },
      {
        scope: 'completions',
        params: ById,
        response: { 200: answer(Deleted), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Delete a conversation and its messages' },
      },
    )
