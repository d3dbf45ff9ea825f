import { AppError } from '../../kernel/errors'
import { artifactOf, type Documents } from '../../media'
import { FORMATS, type Format } from '../../media/documents/schema'
import { type Tool, ToolFailure } from '../tool'

const MAX_CHARS = 200_000

/** Lays out a text that the engine wrote as a file, and gives its address; the text itself is what the run is paid for. */
export const createGenerateDocument = ({ documents }: { documents: Pick<Documents, 'layOut'> }): Tool => ({
  name: 'generate_document',
  description:
    'Makes a file (PDF, Word, PowerPoint, Excel or CSV) of a text in Markdown and gives a link to it. Slides begin at ' +
    '## headings, sheets are the tables. A fence labelled chart, with lines "type: bar" (or line, area, pie) and ' +
    '"title: ...", then CSV, becomes a chart.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['title', 'content', 'format'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 200, description: 'Title of the document' },
      content: { type: 'string', minLength: 1, maxLength: MAX_CHARS, description: 'The whole text, in Markdown' },
      format: { type: 'string', enum: [...FORMATS] },
    },
  },
  outputSchema: {
    type: 'object',
    required: ['id', 'title', 'format', 'download_url', 'size_bytes'],
    properties: {
      id: { type: 'string' },
      title: { type: 'string' },
      format: { type: 'string' },
      download_url: { type: ['string', 'null'] },
      size_bytes: { type: ['integer', 'null'] },
    },
  },
  category: 'documents',
  permissionLevel: 'user',
  scope: 'completions',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 40_000,
  keeps: true,
  async run(args, { call, signal, made }) {
    const text = { title: String(args.title), markdown: String(args.content), format: args.format as Format }
    try {
      const laid = await documents.layOut({ ...call, signal }, text)
      const { id, title, format, download_url, size_bytes } = laid
      made?.({ artifacts: [artifactOf(id)], costCents: laid.usage.cost_cents })
      return { id, title, format, download_url, size_bytes }
    } catch (error) {
      if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
      throw error
    }
  },
})
