import { AppError } from '../../kernel/errors'
import type { CodeService } from '../../media'
import { type Tool, ToolFailure } from '../tool'

/** Most characters of the answer that the engine of the run reads. */
const MAX_CHARS = 30_000

/** Has the code engine write a program; it is charged like `POST /code`. */
export const createGenerateCode = ({ code }: { code: Pick<CodeService, 'create'> }): Tool => ({
  name: 'generate_code',
  description:
    'Has a specialised engine write a program or several files, keeps them as files with links, and checks their ' +
    'syntax. For whole programs and projects; short snippets are better written directly.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['prompt'],
    properties: {
      prompt: { type: 'string', minLength: 1, maxLength: 20_000, description: 'What the code should do' },
      language: { type: 'string', maxLength: 64 },
      framework: { type: 'string', maxLength: 64 },
    },
  },
  outputSchema: {
    type: 'object',
    required: ['id', 'content', 'files', 'problems'],
    properties: {
      id: { type: 'string' },
      content: { type: 'string' },
      files: { type: 'array', items: { type: 'object' } },
      problems: { type: 'array', items: { type: 'object' } },
    },
  },
  category: 'code',
  permissionLevel: 'user',
  scope: 'completions',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 120_000,
  keeps: true,
  async run(args, { call, signal, made: notify }) {
    const input = {
      prompt: String(args.prompt),
      ...(args.language === undefined ? {} : { language: String(args.language) }),
      ...(args.framework === undefined ? {} : { framework: String(args.framework) }),
    }
    try {
      // The answer to the request is that of the run, and is stored with it.
      const made = await code.create({ ...call, once: undefined, signal }, input)
      notify?.({ artifacts: made.artifacts.map(({ id }) => id), costCents: made.usage.cost_cents })
      return {
        id: made.id,
        content: made.content.slice(0, MAX_CHARS),
        files: made.artifacts.map(({ id, filename, language, url }) => ({ id, filename, language, url })),
        problems: made.checks.filter(({ status }) => status === 'error'),
      }
    } catch (error) {
      if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
      throw error
    }
  },
})
