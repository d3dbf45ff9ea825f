import { operator } from '../http/verbs'
import { PageQuery, pageAs } from '../kernel/page'
import { t } from '../kernel/schema'
import * as words from '../skills/schema'
import type { OperatorService } from './service'

const OF_REVIEW = { holds: 'content', role: 'reviewer' } as const
const REVIEWS = { role: 'reviewer' } as const
const Rerun = t.Object({ rerun: t.Optional(t.Boolean()) })

/** All skills, the installed skills of key owners, and submissions with past decisions (docs/operating.md 2.11). */
export const skillVerbs = ({ skills, submissions }: OperatorService) =>
  [
    operator.get(
      '/skills',
      {
        holds: ['description', 'keywords'],
        role: 'reviewer',
        query: words.OperatorSkillQuery,
        reply: words.OperatorSkillPage,
      },
      async (call, { query }) => pageAs('skills', await skills.list(call, query)),
    ),
    operator.post('/skills', { ...REVIEWS, body: words.ImportInput, reply: words.Imported }, (call, { body }) =>
      skills.put(call, body.manifest),
    ),
    operator.get('/skills/:ref', { ...OF_REVIEW, reply: words.OperatorSkill }, (call, { id }) => skills.get(call, id)),
    operator.get('/skills/:ref/versions', { ...OF_REVIEW, reply: words.SkillVersions }, async (call, { id }) => ({
      versions: await skills.versions(call, id),
    })),
    operator.get(
      '/skills/:ref/reviews',
      { ...OF_REVIEW, query: PageQuery, reply: words.OperatorReviewPage },
      async (call, { id, query }) => pageAs('reviews', await skills.reviews(call, id, query.limit, query.cursor)),
    ),
    operator.post(
      '/skills/:ref/disable',
      { ...REVIEWS, body: words.Takedown, reply: words.OperatorSkillEntry },
      (call, { id, body }) => skills.disable(call, id, body.also_installed === true),
    ),
    operator.post('/skills/:ref/enable', { ...REVIEWS, reply: words.OperatorSkillEntry }, (call, { id }) =>
      skills.enable(call, id),
    ),
    operator.put('/keys/:ref/skills/:slug', { reply: words.Installed }, (call, { id, ids }) =>
      skills.install(call, ids.slug!, id),
    ),
    operator.delete('/keys/:ref/skills/:slug', { reply: words.Uninstalled }, (call, { id, ids }) =>
      skills.uninstall(call, ids.slug!, id),
    ),
    operator.get(
      '/submissions',
      {
        holds: ['reason'],
        role: 'reviewer',
        query: words.OperatorSubmissionQuery,
        reply: words.OperatorSubmissionPage,
      },
      async (call, { query }) => pageAs('submissions', await submissions.list(call, query)),
    ),
    operator.get('/submissions/stats', { holds: 'facts', reply: words.SubmissionStats }, (call) =>
      submissions.stats(call),
    ),
    operator.get('/submissions/:ref', { ...OF_REVIEW, reply: words.OperatorSubmission }, (call, { id }) =>
      submissions.get(call, id),
    ),
    operator.get('/submissions/:ref/diff', { ...OF_REVIEW, reply: words.OperatorDiff }, (call, { id }) =>
      submissions.diff(call, id),
    ),
    operator.get(
      '/submissions/:ref/checks',
      { ...OF_REVIEW, query: Rerun, reply: words.OperatorChecks },
      (call, { id, query }) => submissions.checks(call, id, query.rerun === true),
    ),
    operator.post('/submissions/:ref/claim', { ...REVIEWS, reply: words.OperatorRecord }, (call, { id }) =>
      submissions.claim(call, id),
    ),
    operator.delete('/submissions/:ref/claim', { ...REVIEWS, reply: words.OperatorRecord }, (call, { id }) =>
      submissions.unclaim(call, id),
    ),
    operator.post(
      '/submissions/:ref',
      { ...REVIEWS, body: words.OperatorDecision, reply: words.OperatorRecord },
      (call, { id, body }) => submissions.decide(call, id, body),
    ),
  ] as const
