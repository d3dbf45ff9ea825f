import { defineError } from '../kernel/errors'

export const emptyPrompt = defineError(
  'invalid',
  'empty_prompt',
  () => '"messages" has no user message. Add one: {"role":"user","content":"Hello"}.',
)

export const blankPrompt = defineError(
  'invalid',
  'empty_prompt',
  (place: number) => `"messages[${place}]", the last user message, has neither text nor an image. Add your question.`,
)
