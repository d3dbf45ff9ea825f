import type { Guard } from '../../http/guard'
import type { OperatorEdge } from '../../http/operator-edge'
import { resourceVerbs } from '../../http/resource-verbs'
import { operatorRoutes, tenantRoutes, verb } from '../../http/verbs'
import { t } from '../../kernel/schema'
import { NewRun, RUN_WORDS, RunPage, RunQuery, RunReply, Verdict } from './schema'
import type { WorkflowService } from './service'

const verbsOf = ({ workflows, run, listRuns, getRun, approve, reject, cancel }: WorkflowService) =>
  [
    ...resourceVerbs(workflows),
    verb(
      {
        method: 'post',
        path: '/workflows/:id/run',
        body: t.Optional(NewRun),
        reply: RunReply,
        idempotent: true,
        summary: 'Run a workflow',
        description: 'Answers when the run ends or pauses, or after 25 seconds if it is still running.',
        errors: [402, 404, 409],
      },
      (call, { id, body }) => run(call, id, body ?? {}),
    ),
    verb(
      {
        method: 'get',
        path: '/workflows/:id/runs',
        holds: RUN_WORDS,
        query: RunQuery,
        reply: RunPage,
        summary: 'List the runs of a workflow, newest first',
        errors: [404],
      },
      (call, { id, query }) => listRuns(call, id, query),
    ),
    verb(
      {
        method: 'get',
        path: '/workflows/:id/runs/:runId',
        holds: RUN_WORDS,
        reply: RunReply,
        summary: 'Read one run, with the results of its steps',
        errors: [404],
      },
      (call, { ids }) => getRun(call, runIn(ids)),
    ),
    verb(
      {
        ...DECISION,
        path: '/workflows/:id/runs/:runId/approve',
        summary: 'Approve the step that a paused run waits for',
      },
      (call, { ids, body }) => approve(call, runIn(ids), body ?? {}),
    ),
    verb(
      {
        ...DECISION,
        path: '/workflows/:id/runs/:runId/reject',
        summary: 'Reject the step that a paused run waits for',
      },
      (call, { ids, body }) => reject(call, runIn(ids), body ?? {}),
    ),
    verb(
      {
        method: 'post',
        path: '/workflows/:id/runs/:runId/cancel',
        reply: RunReply,
        idempotent: true,
        summary: 'Cancel a run that has not ended',
        errors: [404, 409],
      },
      (call, { ids }) => cancel(call, runIn(ids)),
    ),
  ] as const

const DECISION = {
  method: 'post',
  body: t.Optional(Verdict),
  reply: RunReply,
  idempotent: true,
  errors: [404, 409],
} as const

const runIn = ({ id, runId }: Record<string, string>) => ({ id: id!, runId: runId! })

/** `/workflows` (contract 10). */
export const workflowRoutes = (service: WorkflowService, guard: Guard) =>
  tenantRoutes(verbsOf(service), guard, { scope: 'completions', tag: 'Workflows' })

export const workflowOperatorRoutes = (service: WorkflowService, edge: OperatorEdge) =>
  operatorRoutes(verbsOf(service), edge)
