import { defineError } from '../../kernel/errors'
import { FORMATS } from './schema'

export const invalidFormat = defineError(
  'invalid',
  'invalid_format',
  (format: string) => `"${format}" is not a document format. Send one of ${FORMATS.join(', ')}.`,
)

export const tooLarge = defineError(
  'invalid',
  'validation_error',
  () => 'The document is too large to lay out. Ask for a shorter document, or for several documents.',
)
