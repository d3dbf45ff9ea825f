import { defineError } from '../kernel/errors'

export const notAnImage = defineError(
  'unavailable',
  'engine_unavailable',
  () => 'The image engine answered with something that is no picture. Nothing was charged; try again shortly.',
)
