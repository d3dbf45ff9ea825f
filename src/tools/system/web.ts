import { ownerOf } from '../../kernel/caller'
import { type Web, WebFailure } from '../../research'
import { systemTool, type Tool, ToolFailure } from '../tool'

const COUNT = 5

/** The `web_search` tool. Without a configured search driver it is listed as unavailable. */
export const createWebSearch = ({ web: { search } }: { web: Pick<Web, 'search'> }): Tool =>
  systemTool({
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
    timeoutMs: 15_000,
    unavailable: () =>
      search ? null : 'No search is connected to this server. Its operator can set SVC_SEARCH_DRIVER.',
    run: ({ query, count = COUNT }, { signal }) =>
      notifiedToEngine(async () => ({ results: (await search?.(query as string, count as number, signal)) ?? [] })),
  })

/** The `web_fetch` tool: the article of a page, the text of a PDF, or plain text unchanged. */
export const createWebFetch = ({ web }: { web: Pick<Web, 'read'> }): Tool =>
  systemTool({
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
    timeoutMs: 20_000,
    run: ({ url }, { signal, call }) =>
      notifiedToEngine(async () => {
        const { publishedAt: _, ...page } = await web.read(url as string, { signal, who: ownerOf(call.caller) })
        return page
      }),
  })

/** Reports a page that cannot be searched or read to the engine, so that it can continue elsewhere. */
async function notifiedToEngine<Found>(reading: () => Promise<Found>): Promise<Found> {
  try {
    return await reading()
  } catch (error) {
    throw error instanceof WebFailure ? new ToolFailure(error.message) : error
  }
}
