import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import type { ImageService } from './images'
import { GenerationInput, Generations, ImageInput, Images } from './schema'

const REFUSALS = errors(400, 401, 402, 403, 409, 413, 415, 429, 500, 503, 504)

/** `/images` (contract 6) and its alias for image clients (contract 28.1). */
export const imageRoutes = (images: ImageService, guard: Guard) =>
  new Elysia({ tags: ['Images'] })
    .use(guard)
    .post('/images', (context) => images.create(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(ImageInput),
      response: { 200: answer(Images), ...REFUSALS },
      detail: {
        summary: 'Make pictures',
        description:
          'Without an image engine the server draws simple vector illustrations; their engine is `svc-local-vector`.',
      },
    })
    .post('/images/generations', (context) => images.generate(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(GenerationInput),
      response: { 200: answer(Generations), ...REFUSALS },
      detail: { summary: 'Create pictures, in the format of common image APIs' },
    })
