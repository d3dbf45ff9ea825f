import { defineError } from '../kernel/errors'

export const notAnImage = defineError(
  'unavailable',
  'engine_unavailable',
  () => 'The answer of the image engine is not a picture. Nothing was charged; try again shortly.',
)

/** The picture took more time or memory than one may. */
export const tooMuchToDraw = defineError(
  'invalid',
  'validation_error',
  () => 'The picture has too many elements to draw. Use a shorter description.',
)

/** Why an upstream or a process made no video. */
export const videoNotMade = defineError('unavailable', 'engine_unavailable', (sentence: string) => sentence)

/** The engine does not make what was asked for. */
export const videoRefused = defineError('invalid', 'validation_error', (sentence: string) => sentence)
