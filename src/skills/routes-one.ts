import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { PageQuery, pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from './schema'
import type { SkillService } from './service'
import * as author from './service/author'
import * as install from './service/install'
import * as read from './service/read'

const ById = checkedQuery(t.Object({ id: t.String() }))

/** `/skills/{id}` and the routes below it (contract 8.3). */
export const skillMoreRoutes = (skills: SkillService, guard: Guard) =>
  new Elysia()
    .use(guard)
    .get('/:id', (context) => read.getSkill(skills.deps, toCall(context), context.params.id), {
      scope: 'skills',
      params: ById,
      response: { 200: answer(words.Skill), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one skill, by id or slug' },
    })
    .patch('/:id', (context) => author.patchSkill(skills.deps, toCall(context), context.params.id, context.body), {
      scope: 'skills',
      params: ById,
      body: checked(words.SkillPatch),
      response: { 200: answer(words.SkillReply), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Change one of your drafts or private skills' },
    })
    .delete('/:id', (context) => author.removeSkill(skills.deps, toCall(context), context.params.id), {
      scope: 'skills',
      params: ById,
      response: { 200: answer(words.SkillDeleted), ...errors(401, 403, 404, 409, 429) },
      detail: { summary: 'Delete one of your skills that is not published' },
    })
    .delete(
      '/:id/install',
      (context) => {
        const { id } = context.params
        return install.uninstallSkill(
          skills.deps,
          toCall(context),
          words.SkillId.is(id) ? { skillId: id } : { slug: id },
        )
      },
      {
        scope: 'skills',
        params: ById,
        response: { 200: answer(words.Uninstalled), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Uninstall a skill' },
      },
    )
    .patch(
      '/:id/installation',
      async (context) => ({
        installation: await install.configureInstallation(
          skills.deps,
          toCall(context),
          context.params.id,
          context.body,
        ),
      }),
      {
        scope: 'skills',
        params: ById,
        body: checked(words.InstallationPatch),
        response: { 200: answer(words.InstallationReply), ...errors(400, 401, 403, 404, 429) },
        detail: { summary: 'Configure an installed skill: enabled, settings, intensity, priority' },
      },
    )
    .get(
      '/:id/versions',
      async (context) => ({ versions: await read.listVersions(skills.deps, toCall(context), context.params.id) }),
      {
        scope: 'skills',
        params: ById,
        response: { 200: answer(words.SkillVersions), ...errors(401, 403, 404, 429) },
        detail: { summary: 'List the versions of a skill, newest first' },
      },
    )
    .get(
      '/:id/reviews',
      async (context) => {
        const page = await read.listRatings(skills.deps, toCall(context), context.params.id, context.query)
        return { reviews: page.items, average_rating: page.average, total: page.total, ...pageFields(page) }
      },
      {
        scope: 'skills',
        params: ById,
        query: checkedQuery(PageQuery),
        response: { 200: answer(words.SkillReviewPage), ...errors(400, 401, 403, 404, 429) },
        detail: { summary: 'List the ratings and reviews of a skill' },
      },
    )
    .post(
      '/:id/reviews',
      async (context) =>
        context.status(201, {
          review: await read.rateSkill(skills.deps, toCall(context), context.params.id, context.body),
        }),
      {
        scope: 'skills',
        idempotent: true,
        params: ById,
        body: checked(words.NewSkillReview),
        response: { 201: answer(words.SkillReviewReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Rate a skill; your newest rating counts' },
      },
    )
