import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import {
  OperatorChecks,
  OperatorDecision,
  OperatorDiff,
  OperatorRecord,
  OperatorSubmission,
  OperatorSubmissionPage,
  OperatorSubmissionQuery,
  SubmissionStats,
} from '../skills/schema'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))

/** `/ops/v1/submissions`: skills waiting for review, and past decisions (dx 2.11). */
export const submissionRoutes = (submissions: OperatorService['submissions'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/submissions' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await submissions.list(toOperatorCall(context), context.query)
        return { submissions: page.items, ...pageFields(page) }
      },
      {
        holds: ['reason'],
        role: 'reviewer',
        query: checkedQuery(OperatorSubmissionQuery),
        response: { 200: answer(OperatorSubmissionPage), ...errors(400) },
      },
    )
    .get('/stats', (context) => submissions.stats(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(SubmissionStats) },
    })
    .get('/:ref', (context) => submissions.get(toOperatorCall(context), context.params.ref), {
      holds: 'content',
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(OperatorSubmission), ...errors(404) },
    })
    .get('/:ref/diff', (context) => submissions.diff(toOperatorCall(context), context.params.ref), {
      holds: 'content',
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(OperatorDiff), ...errors(404) },
    })
    .get(
      '/:ref/checks',
      (context) => submissions.checks(toOperatorCall(context), context.params.ref, context.query.rerun === true),
      {
        holds: 'content',
        role: 'reviewer',
        params: ByRef,
        query: checkedQuery(t.Object({ rerun: t.Optional(t.Boolean()) })),
        response: { 200: answer(OperatorChecks), ...errors(400, 404) },
      },
    )
    .post('/:ref/claim', (context) => submissions.claim(toOperatorCall(context), context.params.ref), {
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(OperatorRecord), ...errors(404, 409) },
    })
    .delete('/:ref/claim', (context) => submissions.unclaim(toOperatorCall(context), context.params.ref), {
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(OperatorRecord), ...errors(404, 409) },
    })
    .post('/:ref', (context) => submissions.decide(toOperatorCall(context), context.params.ref, context.body), {
      role: 'reviewer',
      params: ByRef,
      body: checked(OperatorDecision),
      response: { 200: answer(OperatorRecord), ...errors(400, 404, 409) },
    })
