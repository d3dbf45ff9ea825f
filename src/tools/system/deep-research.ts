import type { ResearchService } from '../../research'
import type { Tool } from '../tool'

const MAX_SOURCES = 10
const SOURCES = 5
/** Within the time limit of a making; a longer research is a job of its own (contract 7). */
const TIMEOUT_MS = 110_000

/**
 * The `deep_research` tool: a report from several sources, with numbered citations. It counts towards the rate of
 * research and is charged by itself, as `POST /research` is.
 */
export const createDeepResearch = ({ research }: { research: Pick<ResearchService, 'answer'> }): Tool => ({
  name: 'deep_research',
  description:
    'Searches and reads several sources for one question, and gives a report with numbered citations. Takes a minute; for single facts use web_search.',
  inputSchema: {
    type: 'object',
    properties: {
      question: {
        type: 'string',
        minLength: 3,
        maxLength: 4_000,
        description: 'The whole question. Addresses in it are read first.',
      },
      depth: { type: 'string', enum: ['basic', 'advanced'], description: 'basic unless given' },
      max_sources: { type: 'integer', minimum: 1, maximum: MAX_SOURCES, description: `${SOURCES} unless given` },
    },
    required: ['question'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      report: { type: 'string', description: 'Markdown' },
      citations: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            index: { type: 'integer' },
            title: { type: 'string' },
            url: { type: ['string', 'null'] },
          },
          required: ['index', 'title', 'url'],
        },
      },
    },
    required: ['report', 'citations'],
  },
  category: 'search',
  permissionLevel: 'user',
  scope: 'completions',
  requiresApproval: false,
  skillId: null,
  timeoutMs: TIMEOUT_MS,
  async run({ question, depth = 'basic', max_sources = SOURCES }, { call, signal, made }) {
    const request = {
      prompt: question as string,
      depth: depth as 'basic' | 'advanced',
      maxSources: max_sources as number,
    }
    const { found, costCents } = await research.answer(call, request, signal)
    const { report, citations } = found
    made?.({ artifacts: [], costCents })
    return { report, citations: citations.map(({ index, title, url }) => ({ index, title, url })) }
  },
})
