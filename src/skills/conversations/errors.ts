import { defineError } from '../../kernel/errors'

export const tooManyMemories = defineError(
  'conflict',
  'conflict',
  (most: number) => `This account has ${most} memories, which is the maximum. Delete one first.`,
)
