import { defineError } from '../../kernel/errors'

export const tooManyMemories = defineError(
  'conflict',
  'conflict',
  (max: number) => `This account has ${max} memories, which is the maximum. Delete one first.`,
)
