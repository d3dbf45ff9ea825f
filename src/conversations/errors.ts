import { defineError } from '../kernel/errors'

export const tooManyMemories = defineError(
  'conflict',
  'conflict',
  (most: number) => `This account remembers ${most} things already, the most there can be. Delete one first.`,
)
