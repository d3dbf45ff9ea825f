import { defineError } from '../kernel/errors'

export const notAnImage = defineError(
  'unavailable',
  'engine_unavailable',
  () => 'The image engine answered with something that is no picture. Nothing was charged; try again shortly.',
)

/** The picture took more time or memory than one may. */
export const tooMuchToDraw = defineError(
  'invalid',
  'validation_error',
  () => 'There is more in the picture than can be drawn here. Describe it in fewer words.',
)

/** Why an upstream or a process made no video. */
export const videoNotMade = defineError('unavailable', 'engine_unavailable', (sentence: string) => sentence)

/** The engine does not make what was asked for. */
export const videoRefused = defineError('invalid', 'validation_error', (sentence: string) => sentence)
