import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenantRoutes, verb } from '../http/verbs'
import { PageQuery, pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import type { CanvasService } from './canvases'
import * as words from './canvases-schema'
import { CompileRefusal } from './canvases-schema'
import type { ChannelService } from './channels'
import type { HookService } from './hooks'
import { workflow } from './resource'
import * as hookWords from './schema'
import { Channels } from './schema'
import type { WorkflowService } from './workflows'
import {
  CanvasRunPage,
  CanvasRunReply,
  NewRun,
  OfCanvas,
  RUN_WORDS,
  RunPage,
  RunQuery,
  RunReply,
  Verdict,
  WorkflowReply,
} from './workflows-schema'

const ById = checkedQuery(t.Object({ id: t.String() }))
const ByVersion = checkedQuery(t.Object({ id: t.String(), versionId: t.String() }))
/** For routes that ignore their body. It may be absent, but must be JSON when sent. */
const Nothing = checked(t.Unknown())

/** `/evi/canvases` (docs/api.md 9). A canvas that does not compile gives 422 with its own body format. */
export const canvasRoutes = (service: CanvasService, guard: Guard) =>
  tenantRoutes(resourceVerbs(service.canvases), guard, { scope: 'skills', tag: 'Canvases' }).use(
    new Elysia({ prefix: '/evi/canvases' })
      .use(buildPaths(service, guard))
      .use(publishPaths(service, guard))
      .use(versionPaths(service, guard)),
  )

const buildPaths = (canvases: CanvasService, guard: Guard) =>
  new Elysia({ tags: ['Canvases'] })
    .use(guard)
    .post(
      '/:id/compile',
      async (context) => {
        const built = await canvases.compile(toCall(context), context.params.id)
        if (!('problems' in built)) return built
        return context.status(422, { compiled: false, manifest: null, steps: null, errors: built.problems })
      },
      {
        scope: 'skills',
        idempotent: true,
        params: ById,
        body: Nothing,
        response: {
          200: answer(words.Compiled),
          422: answer(words.CompileRefusal),
          ...errors(400, 401, 403, 404, 409, 429),
        },
        detail: { summary: 'Compile a canvas into a skill and its steps' },
      },
    )
    .post(
      '/:id/test',
      async (context) => {
        const tried = await canvases.test(toCall(context), context.params.id, context.body)
        if (!('problems' in tried)) return tried
        return context.status(422, { response: null, cost_cents: 0, errors: tried.problems })
      },
      {
        scope: 'skills',
        idempotent: true,
        params: ById,
        body: checked(words.TestInput),
        response: {
          200: answer(words.Tested),
          422: answer(words.TestRefusal),
          ...errors(400, 401, 402, 403, 404, 409, 429, 503, 504),
        },
        detail: {
          summary: 'Run the current draft of a canvas on a message',
          description: 'Tool calls are acknowledged but not executed. Billed at the standard rate; nothing is stored.',
        },
      },
    )

const publishPaths = (canvases: CanvasService, guard: Guard) =>
  new Elysia({ tags: ['Canvases'] }).use(guard).post(
    '/:id/publish',
    async (context) => {
      const outcome = await canvases.publish(toCall(context), context.params.id, context.body)
      return outcome.published ? outcome : context.status(422, outcome)
    },
    {
      scope: 'skills',
      idempotent: true,
      params: ById,
      body: checked(words.PublishInput),
      response: {
        200: answer(words.Published),
        422: answer(words.PublishRefusal),
        ...errors(400, 401, 403, 404, 409, 429),
      },
      detail: { summary: 'Publish a canvas as a skill, or as a new version of its skill' },
    },
  )

const versionPaths = (canvases: CanvasService, guard: Guard) =>
  new Elysia({ tags: ['Canvases'] })
    .use(guard)
    .get(
      '/:id/versions',
      async (context) => {
        const page = await canvases.listVersions(toCall(context), context.params.id, context.query)
        return { versions: page.items, ...pageFields(page) }
      },
      {
        scope: 'skills',
        params: ById,
        query: checkedQuery(PageQuery),
        response: { 200: answer(words.CanvasVersionPage), ...errors(400, 401, 403, 404, 429) },
        detail: { summary: 'List the published versions of a canvas, newest first' },
      },
    )
    .post(
      '/:id/versions/:versionId/restore',
      (context) => canvases.restore(toCall(context), context.params.id, context.params.versionId),
      {
        scope: 'skills',
        idempotent: true,
        params: ByVersion,
        body: Nothing,
        response: { 200: answer(words.CanvasReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Restore a published version as the draft' },
      },
    )

export const workflowVerbs = ({ workflows, run, listRuns, getRun, approve, reject, cancel }: WorkflowService) =>
  [
    ...resourceVerbs(workflows),
    verb.post(
      '/workflows/:id/run',
      {
        body: t.Optional(NewRun),
        reply: RunReply,
        idempotent: true,
        summary: 'Run a workflow',
        description: 'Answers when the run ends or pauses, or after 25 seconds if it is still running.',
        errors: [402, 404, 409],
      },
      (call, { id, body }) => run(call, id, body ?? {}),
    ),
    verb.get(
      '/workflows/:id/runs',
      {
        holds: RUN_WORDS,
        query: RunQuery,
        reply: RunPage,
        summary: 'List the runs of a workflow, newest first',
        errors: [404],
      },
      (call, { id, query }) => listRuns(call, id, query),
    ),
    verb.get(
      '/workflows/:id/runs/:runId',
      {
        holds: RUN_WORDS,
        reply: RunReply,
        summary: 'Read one run, with the results of its steps',
        errors: [404],
      },
      (call, { ids }) => getRun(call, runIn(ids)),
    ),
    verb.post(
      '/workflows/:id/runs/:runId/approve',
      { ...DECISION, summary: 'Approve the step that a paused run waits for' },
      (call, { ids, body }) => approve(call, runIn(ids), body ?? {}),
    ),
    verb.post(
      '/workflows/:id/runs/:runId/reject',
      { ...DECISION, summary: 'Reject the step that a paused run waits for' },
      (call, { ids, body }) => reject(call, runIn(ids), body ?? {}),
    ),
    verb.post(
      '/workflows/:id/runs/:runId/cancel',
      {
        reply: RunReply,
        idempotent: true,
        summary: 'Cancel a run that has not ended',
        errors: [404, 409],
      },
      (call, { ids }) => cancel(call, runIn(ids)),
    ),
  ] as const

const DECISION = {
  body: t.Optional(Verdict),
  reply: RunReply,
  idempotent: true,
  errors: [404, 409],
} as const

const runIn = ({ id, runId }: Record<string, string>) => ({ id: id!, runId: runId! })

/** `/workflows` (docs/api.md 10). */
export const workflowRoutes = (service: WorkflowService, guard: Guard) =>
  tenantRoutes(workflowVerbs(service), guard, { scope: 'completions', tag: 'Workflows' })

export const canvasWorkflowVerbs = ({ get, listRuns, getRun }: WorkflowService['fromCanvas']) =>
  [
    verb.get(
      '/evi/canvases/:id/workflow',
      {
        holds: workflow.holds,
        reply: WorkflowReply,
        summary: 'Read the workflow of a canvas',
        errors: [404],
      },
      (call, { id }) => get(call, id),
    ),
    verb.get(
      '/evi/canvases/:id/runs',
      {
        holds: RUN_WORDS,
        query: RunQuery,
        reply: CanvasRunPage,
        summary: 'List the runs of a canvas, newest first, with the state of each node',
        errors: [404],
      },
      (call, { id, query }) => listRuns(call, id, query),
    ),
    verb.get(
      '/evi/canvases/:id/runs/:runId',
      {
        holds: RUN_WORDS,
        reply: CanvasRunReply,
        summary: 'Read one run of a canvas, with the state of each node',
        errors: [404],
      },
      (call, { id, ids }) => getRun(call, id, ids.runId!),
    ),
  ] as const

/** `/evi/canvases/{id}/workflow` and `/runs` (docs/api.md 9, 10): a canvas as a workflow. */
export const canvasWorkflowRoutes = ({ fromCanvas }: WorkflowService, guard: Guard) =>
  tenantRoutes(canvasWorkflowVerbs(fromCanvas), guard, { scope: 'skills', tag: 'Canvases' }).use(
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

/** `/hooks` (docs/api.md 11.1), for tenants and operators. A list includes the presets, a single hook its history. */
export const hookVerbs = ({ hooks, list, history }: HookService) => {
  const [create, , , update, remove] = resourceVerbs(hooks)
  const { summaries, holds } = hooks.resource
  return [
    // 404 because the named preset or skill may not exist.
    { ...create, errors: [404] as const },
    verb.get(
      '/hooks',
      {
        holds,
        query: hookWords.HookQuery,
        reply: hookWords.HookPage,
        owned: true,
        summary: summaries.list,
      },
      (call, { query, owner }) => list(call, query, { owner }),
    ),
    verb.get(
      '/hooks/:id',
      {
        holds,
        query: hookWords.HookQuery,
        reply: hookWords.HookHistory,
        errors: [404],
        summary: summaries.get,
      },
      (call, { id, query }) => history(call, id, query),
    ),
    verb.get(
      '/hooks/:id/executions',
      {
        holds,
        query: hookWords.HookQuery,
        reply: hookWords.HookExecutions,
        errors: [404],
        summary: 'List the runs of a hook, newest first',
      },
      async (call, { id, query }) => {
        const { hook: _, ...executions } = await history(call, id, query)
        return executions
      },
    ),
    update,
    remove,
  ] as const
}

export const hookRoutes = (service: HookService, guard: Guard) =>
  tenantRoutes(hookVerbs(service), guard, { scope: 'completions', tag: 'Hooks' })

/** `/channels` (docs/api.md 21), for tenants and operators. */
export const channelVerbs = ({ list }: ChannelService) =>
  [
    verb.get(
      '/channels',
      {
        holds: ['name'],
        reply: Channels,
        owned: true,
        summary: 'List the channels that people wrote from, last used first',
        description:
          'Channels come from `metadata.channel` of completions, and from `metadata.channel_name` if there are several. A channel is idle after seven days without messages.',
      },
      (call, { owner }) => list(call, owner),
    ),
  ] as const

export const channelRoutes = (service: ChannelService, guard: Guard) =>
  tenantRoutes(channelVerbs(service), guard, { scope: 'connectors', tag: 'Channels' })
