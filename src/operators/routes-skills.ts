import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { PageQuery, pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from '../skills/schema'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))
const BySlug = checkedQuery(t.Object({ ref: t.String(), slug: t.String() }))

/** `/ops/v1/skills`: all skills (dx 2.11). */
export const skillRoutes = (skills: OperatorService['skills'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/skills' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await skills.list(toOperatorCall(context), context.query)
        return { skills: page.items, ...pageFields(page) }
      },
      {
        holds: ['description', 'keywords'],
        role: 'reviewer',
        query: checkedQuery(words.OperatorSkillQuery),
        response: { 200: answer(words.OperatorSkillPage), ...errors(400, 404) },
      },
    )
    .post('', (context) => skills.put(toOperatorCall(context), context.body.manifest), {
      role: 'reviewer',
      body: checked(words.ImportInput),
      response: { 200: answer(words.Imported), ...errors(400, 409, 422) },
    })
    .get('/:ref', (context) => skills.get(toOperatorCall(context), context.params.ref), {
      holds: 'content',
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(words.OperatorSkill), ...errors(404) },
    })
    .get(
      '/:ref/versions',
      async (context) => ({ versions: await skills.versions(toOperatorCall(context), context.params.ref) }),
      {
        holds: 'content',
        role: 'reviewer',
        params: ByRef,
        response: { 200: answer(words.SkillVersions), ...errors(404) },
      },
    )
    .get(
      '/:ref/reviews',
      async (context) => {
        const { limit, cursor } = context.query
        const page = await skills.reviews(toOperatorCall(context), context.params.ref, limit, cursor)
        return { reviews: page.items, ...pageFields(page) }
      },
      {
        holds: 'content',
        role: 'reviewer',
        params: ByRef,
        query: checkedQuery(PageQuery),
        response: { 200: answer(words.OperatorReviewPage), ...errors(400, 404) },
      },
    )
    .post(
      '/:ref/disable',
      (context) => skills.disable(toOperatorCall(context), context.params.ref, context.body.also_installed === true),
      {
        role: 'reviewer',
        params: ByRef,
        body: checked(words.Takedown),
        response: { 200: answer(words.OperatorSkillEntry), ...errors(400, 404, 409) },
      },
    )
    .post('/:ref/enable', (context) => skills.enable(toOperatorCall(context), context.params.ref), {
      role: 'reviewer',
      params: ByRef,
      response: { 200: answer(words.OperatorSkillEntry), ...errors(404, 409) },
    })

/** Installing skills for the owner of a key; under `/keys`, because it acts for them. */
export const installRoutes = (skills: OperatorService['skills'], edge: ReturnType<typeof operatorEdge>) =>
  new Elysia({ prefix: '/ops/v1/keys' })
    .use(edge)
    .put(
      '/:ref/skills/:slug',
      ({ params: { slug, ref }, ...context }) => skills.install(toOperatorCall(context), slug, ref),
      { params: BySlug, response: { 200: answer(words.Installed), ...errors(403, 404, 409) } },
    )
    .delete(
      '/:ref/skills/:slug',
      ({ params: { slug, ref }, ...context }) => skills.uninstall(toOperatorCall(context), slug, ref),
      { params: BySlug, response: { 200: answer(words.Uninstalled), ...errors(403, 404, 409) } },
    )
