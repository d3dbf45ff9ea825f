import { defineError } from '../kernel/errors'

export const emptyPrompt = defineError(
  'invalid',
  'empty_prompt',
  () => '"messages" holds no user message with text. Add one: {"role":"user","content":"Hello"}.',
)
