import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery } from '../kernel/schema'
import { SigningSecret, ToolList, ToolQuery } from './schema'
import type { Tools } from './service'

/** `/tools` (docs/api.md 5.2). */
export const toolRoutes = (tools: Tools, guard: Guard) =>
  new Elysia({ prefix: '/tools', tags: ['Tools'] })
    .use(guard)
    .get('', async (context) => ({ tools: await tools.list(toCall(context), context.query) }), {
      scope: 'tools',
      query: checkedQuery(ToolQuery),
      response: { 200: answer(ToolList), ...errors(400, 401, 403, 429) },
      detail: { summary: 'List the tools that engines may call in your runs' },
    })
    .get('/signing-secret', (context) => ({ secret: tools.signingSecret(toCall(context)) }), {
      scope: 'tools',
      response: { 200: answer(SigningSecret), ...errors(401, 403, 429) },
      detail: { summary: 'Read the secret that signs calls to your tool endpoints' },
    })
