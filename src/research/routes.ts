import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { tenantRoutes, verb } from '../http/verbs'
import { checked } from '../kernel/schema'
import { ResearchAccepted, ResearchInput, Verification } from './schema'
import type { ResearchService } from './service'

export const researchVerbs = ({ recheck }: ResearchService) =>
  [
    verb.get(
      '/jobs/:id/verification',
      {
        holds: ['problems'],
        reply: Verification,
        errors: [409],
        summary: 'Check a research report against its snapshots again',
        description: 'Looks up each quotation in the texts stored with the report. No source is read again.',
      },
      (call, { id }) => recheck(call, id),
    ),
  ] as const

export const researchJobRoutes = (research: ResearchService, guard: Guard) =>
  tenantRoutes(researchVerbs(research), guard, { scope: 'completions', tag: 'Research' })

/** `/research` (docs/api.md 7). */
export const researchRoutes = (research: ResearchService, guard: Guard) =>
  new Elysia({ tags: ['Research'] })
    .use(guard)
    .post('/research', async (context) => context.status(202, await research.start(toCall(context), context.body)), {
      scope: 'completions',
      idempotent: true,
      body: checked(ResearchInput),
      response: { 202: answer(ResearchAccepted), ...errors(400, 401, 402, 403, 409, 429, 503) },
      detail: {
        summary: 'Research a question in many sources',
        description:
          'Answers with a job. Its result is a report in Markdown with numbered citations; `result_data` has the passage behind each cited sentence.',
      },
    })
