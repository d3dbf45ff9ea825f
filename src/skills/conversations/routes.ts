import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import { PageQuery, pageFields } from '../../kernel/page'
import { checked, checkedQuery, t } from '../../kernel/schema'
import type { MemoryService } from './memory'
import {
  ConversationPage,
  ConversationQuery,
  ConversationReply,
  ConversationSummaryReply,
  Deleted,
  MemoryPage,
  MemoryReply,
  NewMemory,
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

/** `/memory`: the user's memories (contract 17). */
export const memoryRoutes = (memory: MemoryService, guard: Guard) =>
  new Elysia({ prefix: '/memory', tags: ['Memory'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const page = await memory.list(toCall(context), context.query)
        return { memories: page.items, ...pageFields(page) }
      },
      {
        scope: 'completions',
        query: checkedQuery(PageQuery),
        response: { 200: answer(MemoryPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List the memories of your account, newest first' },
      },
    )
    .post('', async (context) => context.status(201, await memory.add(toCall(context), context.body, 'api')), {
      scope: 'completions',
      idempotent: true,
      body: checked(NewMemory),
      response: { 201: answer(MemoryReply), ...errors(400, 401, 403, 409, 413, 415, 429) },
      detail: { summary: 'Store a memory for later answers' },
    })
    .delete(
      '/:id',
      async (context) => {
        await memory.remove(toCall(context), context.params.id)
        return { deleted: true as const }
      },
      {
        scope: 'completions',
        params: ById,
        response: { 200: answer(Deleted), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Delete one memory' },
      },
    )
