import { ownerOf } from '../../kernel/caller'
import type { Web } from '../../research'
import type { Tool } from '../tool'
import { notifiedToEngine } from './told-to-engine'

/** The `web_fetch` tool: the article of a page, the text of a PDF, or plain text unchanged. */
export const createWebFetch = ({ web }: { web: Pick<Web, 'read'> }): Tool => ({
  name: 'web_fetch',
  description:
    'Reads one public web address and gives its title and readable text. Reads HTML, PDF, plain text, JSON and XML.',
  inputSchema: {
    type: 'object',
    properties: { url: { type: 'string', minLength: 8, maxLength: 2_048, description: 'An http or https address' } },
    required: ['url'],
  },
  outputSchema: {
    type: 'object',
    properties: { url: { type: 'string' }, title: { type: ['string', 'null'] }, text: { type: 'string' } },
    required: ['url', 'title', 'text'],
  },
  category: 'search',
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 20_000,
  run: ({ url }, { signal, call }) =>
    notifiedToEngine(async () => {
      const { publishedAt: _, ...page } = await web.read(url as string, { signal, who: ownerOf(call.caller) })
      return page
    }),
})
