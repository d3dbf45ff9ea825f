import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import type { OperatorEdge } from '../../http/operator-edge'
import { resourceVerbs } from '../../http/resource-verbs'
import { operatorRoutes, tenantRoutes } from '../../http/verbs'
import { PageQuery, pageFields } from '../../kernel/page'
import { checked, checkedQuery, t } from '../../kernel/schema'
import * as words from './schema'
import type { CanvasService } from './service'

const ById = checkedQuery(t.Object({ id: t.String() }))
const ByVersion = checkedQuery(t.Object({ id: t.String(), versionId: t.String() }))
/** For routes that ignore their body: it may be absent, but must be JSON when it is sent. */
const Nothing = checked(t.Unknown())

/** `/evi/canvases` (contract 9). A canvas that does not compile is answered with 422 and a body of its own shape. */
export const canvasRoutes = (service: CanvasService, guard: Guard) =>
  tenantRoutes(resourceVerbs(service.canvases), guard, { scope: 'skills', tag: 'Canvases' }).use(
    new Elysia({ prefix: '/evi/canvases' })
      .use(buildPaths(service, guard))
      .use(publishPaths(service, guard))
      .use(versionPaths(service, guard)),
  )

export const canvasOperatorRoutes = ({ canvases }: CanvasService, edge: OperatorEdge) =>
  operatorRoutes(resourceVerbs(canvases), edge)

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
        const page = await canvases.versions.list(toCall(context), context.params.id, context.query)
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
      (context) => canvases.versions.restore(toCall(context), context.params.id, context.params.versionId),
      {
        scope: 'skills',
        idempotent: true,
        params: ByVersion,
        body: Nothing,
        response: { 200: answer(words.CanvasReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Restore a published version as the draft' },
      },
    )
