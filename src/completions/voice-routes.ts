import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import type { Voice } from './voice'
import { ActionInput, ActionResult, TokenInput, VoiceToken } from './voice'

/** `/voice` (contract 6). */
export const voiceRoutes = (voice: Voice, guard: Guard) =>
  new Elysia({ prefix: '/voice', tags: ['Audio'] })
    .use(guard)
    .post('/token', (context) => voice.token(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      body: checked(TokenInput),
      response: { 200: answer(VoiceToken), ...errors(400, 401, 402, 403, 404, 409, 429, 503) },
      detail: {
        summary: 'Open a live voice session',
        description: 'The token lasts 30 minutes. Attach `systemInstruction` and `tools` to the live session.',
      },
    })
    .post('/action', (context) => voice.act(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(ActionInput),
      response: { 200: answer(ActionResult), ...errors(400, 401, 402, 403, 404, 409, 429, 503, 504) },
      detail: { summary: 'Run a tool that a live voice session asked for' },
    })
