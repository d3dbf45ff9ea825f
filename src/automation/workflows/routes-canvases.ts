import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import type { OperatorEdge } from '../../http/operator-edge'
import { operatorRoutes, tenantRoutes, verb } from '../../http/verbs'
import { checked, checkedQuery, t } from '../../kernel/schema'
import { CompileRefusal } from '../canvases/schema'
import { workflow } from './resource'
import { CanvasRunPage, CanvasRunReply, OfCanvas, RUN_WORDS, RunQuery, WorkflowReply } from './schema'
import type { WorkflowService } from './service'

type FromCanvas = WorkflowService['fromCanvas']

const readingOf = ({ get, listRuns, getRun }: FromCanvas) =>
  [
    verb(
      {
        method: 'get',
        path: '/evi/canvases/:id/workflow',
        holds: workflow.holds,
        reply: WorkflowReply,
        summary: 'Read the workflow of a canvas',
        errors: [404],
      },
      (call, { id }) => get(call, id),
    ),
    verb(
      {
        method: 'get',
        path: '/evi/canvases/:id/runs',
        holds: RUN_WORDS,
        query: RunQuery,
        reply: CanvasRunPage,
        summary: 'List the runs of a canvas, newest first, with the state of each node',
        errors: [404],
      },
      (call, { id, query }) => listRuns(call, id, query),
    ),
    verb(
      {
        method: 'get',
        path: '/evi/canvases/:id/runs/:runId',
        holds: RUN_WORDS,
        reply: CanvasRunReply,
        summary: 'Read one run of a canvas, with the state of each node',
        errors: [404],
      },
      (call, { id, ids }) => getRun(call, id, ids.runId!),
    ),
  ] as const

/** `/evi/canvases/{id}/workflow` and `/runs` (contract 9, 10): what a canvas does as a workflow. */
export const canvasWorkflowRoutes = ({ fromCanvas }: WorkflowService, guard: Guard) =>
  tenantRoutes(readingOf(fromCanvas), guard, { scope: 'skills', tag: 'Canvases' }).use(
    new Elysia({ prefix: '/evi/canvases', tags: ['Canvases'] }).use(guard).post(
      '/:id/workflow',
      async (context) => {
        const made = await fromCanvas.make(toCall(context), context.params.id, context.body ?? {})
        if (!('problems' in made)) return made
        return context.status(422, { compiled: false, manifest: null, steps: null, errors: made.problems })
      },
      {
        scope: 'skills',
        idempotent: true,
        params: checkedQuery(t.Object({ id: t.String() })),
        body: checked(t.Optional(OfCanvas)),
        response: {
          200: answer(WorkflowReply),
          422: answer(CompileRefusal),
          ...errors(400, 401, 403, 404, 409, 429),
        },
        detail: {
          summary: 'Compile a canvas into its workflow',
          description: 'The first call creates the workflow; later calls update it.',
        },
      },
    ),
  )

export const canvasWorkflowOperatorRoutes = ({ fromCanvas }: WorkflowService, edge: OperatorEdge) =>
  operatorRoutes(readingOf(fromCanvas), edge)
