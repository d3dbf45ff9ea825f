import { Elysia } from 'elysia'
import type { Sandbox } from '../completions'
import { answer, ErrorBody, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { PageQuery, pageFields } from '../kernel/page'
import { checked, checkedQuery, described, namedObject, t } from '../kernel/schema'
import { reviewFailed } from './errors'
import * as words from './schema'
import * as review from './schema-skill'
import type { SkillService } from './service'
import * as author from './service/author'
import * as submissions from './service/decide'
import * as install from './service/install'
import * as read from './service/read'
import { submit } from './service/submit'

const ById = checkedQuery(t.Object({ id: t.String() }))

/** Body of a refused manifest: the error envelope with the review (docs/api.md 8.2). */
const ReviewRefusal = namedObject('SkillReviewRefusal', { ...ErrorBody.properties, review: review.Review })

/** `/skills` (docs/api.md 8). */
export const skillRoutes = ({ skills, sandbox }: { skills: SkillService; sandbox: Sandbox }, guard: Guard) =>
  new Elysia({ prefix: '/skills', tags: ['Skills'] })
    .use(guard)
    .get(
      '',
      async (context) => {
        const page = await read.listSkills(skills.deps, toCall(context), context.query)
        return { skills: page.items, ...pageFields(page) }
      },
      {
        scope: 'skills',
        query: checkedQuery(words.SkillQuery),
        response: { 200: answer(words.SkillPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List skills: the store, what is installed, or your own' },
      },
    )
    .post(
      '',
      async (context) => {
        const { isNew } = await install.installSkill(skills.deps, toCall(context), context.body)
        return context.status(isNew ? 201 : 200, { installed: true as const })
      },
      {
        scope: 'skills',
        idempotent: true,
        body: checked(words.SkillRef),
        response: {
          200: answer(words.Installed),
          201: answer(words.Installed),
          ...errors(400, 401, 403, 404, 409, 429),
        },
        detail: { summary: 'Install a skill; answers 200 if it is already installed' },
      },
    )
    .delete('', (context) => install.uninstallSkill(skills.deps, toCall(context), context.body), {
      scope: 'skills',
      body: checked(words.SkillRef),
      response: { 200: answer(words.Uninstalled), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Uninstall a skill' },
    })
    .post(
      '/create',
      async (context) => context.status(201, await author.createSkill(skills.deps, toCall(context), context.body)),
      {
        scope: 'skills',
        idempotent: true,
        body: checked(words.NewSkill),
        response: { 201: answer(words.SkillReply), ...errors(400, 401, 403, 409, 429), 422: described(ReviewRefusal) },
        detail: { summary: 'Create a skill; it stays private until it passes review' },
      },
    )
    .post(
      '/submit',
      async (context) => {
        const outcome = await submit(skills.deps, toCall(context), context.body)
        if (!outcome.accepted) throw reviewFailed(outcome.review)
        const { accepted: _, ...answered } = outcome
        return context.status(201, answered)
      },
      {
        scope: 'skills',
        idempotent: true,
        body: checked(review.SubmitInput),
        response: {
          201: answer(review.Submitted),
          ...errors(400, 401, 403, 404, 409, 429),
          422: described(ReviewRefusal),
        },
        detail: { summary: 'Submit a skill, or a new version of one, for review' },
      },
    )
    .get(
      '/submissions',
      async (context) => {
        const page = await submissions.listSubmissions(skills.deps, toCall(context), context.query)
        return { submissions: page.items, ...pageFields(page) }
      },
      {
        scope: 'skills',
        query: checkedQuery(review.SubmissionQuery),
        response: { 200: answer(review.SubmissionPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List your submissions, newest first' },
      },
    )
    .get(
      '/submissions/:id',
      async (context) => ({
        submission: await submissions.getSubmission(skills.deps, toCall(context), context.params.id),
      }),
      {
        scope: 'skills',
        params: ById,
        response: { 200: answer(review.SubmissionReply), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Read one of your submissions' },
      },
    )
    .delete(
      '/submissions/:id',
      async (context) => ({
        submission: await submissions.withdrawSubmission(skills.deps, toCall(context), context.params.id),
      }),
      {
        scope: 'skills',
        params: ById,
        response: { 200: answer(review.SubmissionReply), ...errors(401, 403, 404, 409, 429) },
        detail: { summary: 'Withdraw a submission that is waiting for review' },
      },
    )
    .post(
      '/submissions/:id/review',
      async (context) => ({
        submission: await submissions.decideSubmission(skills.deps, toCall(context), context.params.id, context.body),
      }),
      {
        signedIn: true,
        idempotent: true,
        params: ById,
        body: checked(review.DecisionInput),
        response: { 200: answer(review.SubmissionReply), ...errors(400, 401, 403, 404, 409, 429) },
        detail: { summary: 'Approve, reject, suspend or reinstate a skill (platform reviewers)' },
      },
    )
    .post('/sandbox', (context) => sandbox(toCall(context), context.body), {
      scope: 'skills',
      body: checked(words.SandboxInput),
      response: {
        200: answer(words.SandboxReply),
        ...errors(400, 401, 403, 404, 429, 503),
        422: described(ReviewRefusal),
      },
      detail: { summary: 'Try a skill or a manifest on a prompt; nothing is billed or stored' },
    })
    .get('/earnings', (context) => read.readEarnings(skills.deps, toCall(context), context.query), {
      scope: 'skills',
      query: checkedQuery(words.EarningsQuery),
      response: { 200: answer(words.Earnings), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Report how often your skills were used and what they earned' },
    })
    .use(skillMoreRoutes(skills, guard))

/** `/skills/{id}` and the routes below it (docs/api.md 8.3). */
const skillMoreRoutes = (skills: SkillService, guard: Guard) =>
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
      body: checked(words.SkillPatch, { nulls: 'refused' }),
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
        body: checked(words.InstallationPatch, { nulls: 'refused' }),
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
