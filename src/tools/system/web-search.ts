import type { Web } from '../../research'
import type { Tool } from '../tool'
import { notifiedToEngine } from './told-to-engine'

const COUNT = 5

type Deps = { web: Pick<Web, 'search'> }

/** The `web_search` tool. Without a configured search driver it is listed as unavailable. */
export const createWebSearch = ({ web: { search } }: Deps): Tool => ({
  name: 'web_search',
  description: 'Searches the web and gives titles, addresses and short extracts, best first.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 400 },
      count: { type: 'integer', minimum: 1, maximum: 10, description: `How many results, ${COUNT} unless given` },
    },
    required: ['query'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      results: {
        type: 'array',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, url: { type: 'string' }, snippet: { type: 'string' } },
          required: ['title', 'url', 'snippet'],
        },
      },
    },
    required: ['results'],
  },
  category: 'search',
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 15_000,
  unavailable: () => (search ? null : 'No search is connected to this server. Its operator can set SVC_SEARCH_DRIVER.'),
  run: ({ query, count = COUNT }, { signal }) =>
    notifiedToEngine(async () => ({ results: (await search?.(query as string, count as number, signal)) ?? [] })),
})
