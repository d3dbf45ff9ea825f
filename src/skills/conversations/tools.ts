import { AppError } from '../../kernel/errors'
import { type Tool, ToolFailure } from '../../tools'
import type { MemoryService } from './memory'
import { MAX_MEMORY_CHARS } from './schema'

/** Lets an engine remember something for its user (contract 22.6). */
export const saveMemory = (memory: MemoryService): Tool => ({
  name: 'save_memory',
  description:
    'Remembers a lasting fact or preference the user has stated about themselves, for later conversations. ' +
    'Only when the user asks to remember something, or clearly wants it kept. One sentence, no secrets.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['content'],
    properties: { content: { type: 'string', minLength: 1, maxLength: MAX_MEMORY_CHARS } },
  },
  category: 'memory',
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 5_000,
  keeps: true,
  async run(args, { call }) {
    try {
      const { memory: saved } = await memory.add(
        { ...call, once: undefined },
        { content: String(args.content) },
        'assistant',
      )
      return { saved: saved.content, id: saved.id }
    } catch (error) {
      if (error instanceof AppError) throw new ToolFailure(error.message)
      throw error
    }
  },
})
