import { Elysia } from 'elysia'
import type { Sandbox } from '../completions'
import { answer, ErrorBody, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { tenant, tenantRoutes } from '../http/verbs'
import { PageQuery, pageAs, pageFields } from '../kernel/page'
import { checked, namedObject } from '../kernel/schema'
import { reviewFailed } from './errors'
import * as words from './schema'
import * as review from './schema-skill'
import type { SkillService } from './service'
import * as author from './service/author'
import * as submissions from './service/decide'
import * as install from './service/install'
import * as read from './service/read'
import { submit } from './service/submit'

/** Body of a refused manifest: the error envelope with the review (docs/api.md 8.2). */
const refused = namedObject('SkillReviewRefusal', { ...ErrorBody.properties, review: review.Review })

/** `/skills` (docs/api.md 8). */
export function skillRoutes({ skills: { deps }, sandbox }: { skills: SkillService; sandbox: Sandbox }, guard: Guard) {
  const group = { scope: 'skills', tag: 'Skills' } as const
  const lists = tenant.get(
    '/skills',
    {
      query: words.SkillQuery,
      reply: words.SkillPage,
      summary: 'List skills: the store, what is installed, or your own',
    },
    async (call, { query }) => pageAs('skills', await read.listSkills(deps, call, query)),
  )
  const installs = new Elysia({ tags: ['Skills'] }).use(guard).post(
    '/skills',
    async (context) => {
      const { isNew } = await install.installSkill(deps, toCall(context), context.body)
      return context.status(isNew ? 201 : 200, { installed: true as const })
    },
    {
      scope: 'skills',
      idempotent: true,
      body: checked(words.SkillRef),
      response: { 200: answer(words.Installed), 201: answer(words.Installed), ...errors(404) },
      detail: { summary: 'Install a skill; answers 200 if it is already installed' },
    },
  )
  const others = [
    tenant.delete(
      '/skills',
      { body: words.SkillRef, reply: words.Uninstalled, errors: [404], summary: 'Uninstall a skill' },
      (call, { body }) => install.uninstallSkill(deps, call, body),
    ),
    tenant.post(
      '/skills/create',
      {
        body: words.NewSkill,
        reply: words.SkillReply,
        creates: true,
        refused,
        summary: 'Create a skill; it stays private until it passes review',
      },
      (call, { body }) => author.createSkill(deps, call, body),
    ),
    tenant.post(
      '/skills/submit',
      {
        body: review.SubmitInput,
        reply: review.Submitted,
        creates: true,
        errors: [404],
        refused,
        summary: 'Submit a skill, or a new version of one, for review',
      },
      async (call, { body }) => {
        const outcome = await submit(deps, call, body)
        if (!outcome.accepted) throw reviewFailed(outcome.review)
        const { accepted: _, ...answered } = outcome
        return answered
      },
    ),
    tenant.get(
      '/skills/submissions',
      {
        query: review.SubmissionQuery,
        reply: review.SubmissionPage,
        summary: 'List your submissions, newest first',
      },
      async (call, { query }) => pageAs('submissions', await submissions.listSubmissions(deps, call, query)),
    ),
    tenant.get(
      '/skills/submissions/:id',
      { reply: review.SubmissionReply, errors: [404], summary: 'Read one of your submissions' },
      async (call, { id }) => ({ submission: await submissions.getSubmission(deps, call, id) }),
    ),
    tenant.delete(
      '/skills/submissions/:id',
      {
        reply: review.SubmissionReply,
        errors: [404, 409],
        summary: 'Withdraw a submission that is waiting for review',
      },
      async (call, { id }) => ({ submission: await submissions.withdrawSubmission(deps, call, id) }),
    ),
    tenant.post(
      '/skills/submissions/:id/review',
      {
        body: review.DecisionInput,
        reply: review.SubmissionReply,
        signedIn: true,
        idempotent: true,
        errors: [404],
        summary: 'Approve, reject, suspend or reinstate a skill (platform reviewers)',
      },
      async (call, { id, body }) => ({ submission: await submissions.decideSubmission(deps, call, id, body) }),
    ),
    tenant.post(
      '/skills/sandbox',
      {
        body: words.SandboxInput,
        reply: words.SandboxReply,
        errors: [404, 503],
        refused,
        summary: 'Try a skill or a manifest on a prompt; nothing is billed or stored',
      },
      (call, { body }) => sandbox(call, body),
    ),
    tenant.get(
      '/skills/earnings',
      {
        query: words.EarningsQuery,
        reply: words.Earnings,
        summary: 'Report how often your skills were used and what they earned',
      },
      (call, { query }) => read.readEarnings(deps, call, query),
    ),
    tenant.get(
      '/skills/:id',
      { reply: words.Skill, errors: [404], summary: 'Read one skill, by id or slug' },
      (call, { id }) => read.getSkill(deps, call, id),
    ),
    tenant.patch(
      '/skills/:id',
      {
        body: words.SkillPatch,
        reply: words.SkillReply,
        errors: [404, 409],
        summary: 'Change one of your drafts or private skills',
      },
      (call, { id, body }) => author.patchSkill(deps, call, id, body),
    ),
    tenant.delete(
      '/skills/:id',
      {
        reply: words.SkillDeleted,
        errors: [404, 409],
        summary: 'Delete one of your skills that is not published',
      },
      (call, { id }) => author.removeSkill(deps, call, id),
    ),
    tenant.delete(
      '/skills/:id/install',
      { reply: words.Uninstalled, errors: [404], summary: 'Uninstall a skill' },
      (call, { id }) => install.uninstallSkill(deps, call, words.SkillId.is(id) ? { skillId: id } : { slug: id }),
    ),
    tenant.patch(
      '/skills/:id/installation',
      {
        body: words.InstallationPatch,
        reply: words.InstallationReply,
        errors: [404],
        summary: 'Configure an installed skill: enabled, settings, intensity, priority',
      },
      async (call, { id, body }) => ({ installation: await install.configureInstallation(deps, call, id, body) }),
    ),
    tenant.get(
      '/skills/:id/versions',
      { reply: words.SkillVersions, errors: [404], summary: 'List the versions of a skill, newest first' },
      async (call, { id }) => ({ versions: await read.listVersions(deps, call, id) }),
    ),
    tenant.get(
      '/skills/:id/reviews',
      {
        query: PageQuery,
        reply: words.SkillReviewPage,
        errors: [404],
        summary: 'List the ratings and reviews of a skill',
      },
      async (call, { id, query }) => {
        const page = await read.listRatings(deps, call, id, query)
        return { reviews: page.items, average_rating: page.average, total: page.total, ...pageFields(page) }
      },
    ),
    tenant.post(
      '/skills/:id/reviews',
      {
        body: words.NewSkillReview,
        reply: words.SkillReviewReply,
        creates: true,
        errors: [404],
        summary: 'Rate a skill; your newest rating counts',
      },
      async (call, { id, body }) => ({ review: await read.rateSkill(deps, call, id, body) }),
    ),
  ] as const
  return tenantRoutes([lists], guard, group)
    .use(installs)
    .use(tenantRoutes(others, guard, group))
}
