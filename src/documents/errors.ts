import { defineError } from '../kernel/errors'
import { FORMATS } from './schema'

export const invalidFormat = defineError(
  'invalid',
  'invalid_format',
  (format: string) => `"${format}" is no format of documents. Send one of ${FORMATS.join(', ')}.`,
)

export const tooLarge = defineError(
  'invalid',
  'validation_error',
  () => 'The document has more in it than can be laid out here. Ask for less, or for several documents.',
)
