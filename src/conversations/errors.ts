import { defineError } from '../kernel/errors'

export const tooManyMemories = defineError(
  'conflict',
  'conflict',
  (most: number) => `This account has ${most} memories, the most it may have. Delete one first.`,
)
