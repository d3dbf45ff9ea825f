import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import { VideoAccepted, VideoInput } from './video/schema'
import type { VideoService } from './video/service'

/** `/video` (contract 6). */
export const videoRoutes = (video: VideoService, guard: Guard) =>
  new Elysia({ tags: ['Videos'] })
    .use(guard)
    .post('/video', async (context) => context.status(202, await video.start(toCall(context), context.body)), {
      scope: 'completions',
      idempotent: true,
      body: checked(VideoInput),
      response: { 202: answer(VideoAccepted), ...errors(400, 401, 402, 403, 409, 429, 503) },
      detail: {
        summary: 'Create a short video',
        description: 'Answers with a job. Its result is the address of an MP4 that is marked as AI-generated.',
      },
    })
