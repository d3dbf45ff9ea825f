import { defineError, defineErrors, invalidInput } from '../kernel/errors'
import type { Review, SubmissionStatus } from './schema-skill'

export const skillErrors = {
  ...defineErrors('not_found', {
    skillNotFound: 'No skill with this id.',
    submissionNotFound: 'No submission with this id.',
    notInstalled: 'No installed skill with this id.',
  }),
  ...defineErrors('rate_limit_exceeded', {
    tooManySubmissions: (max: number, waitS: number) =>
      `An author can submit ${max} skills and versions in 24 hours, and you have used them all. Try again in ${waitS} s.`,
    tooManyTrials: (max: number, waitS: number) =>
      `The sandbox allows ${max} free trials a day, and you have used them all. Try again in ${waitS} s, or install the skill and send a completion.`,
  }),
  ...defineErrors('validation_error', {
    orgMissing:
      '"visibility" is "org", but "target_org_id" is missing. Send the id of the organization whose members can use it.',
    nameOne: 'Name the skill: send "skillId" or "slug".',
  }),
}

const conflict = <Given extends unknown[]>(text: (...args: Given) => string) => defineError('conflict', text)
const forbidden = <Given extends unknown[]>(text: (...args: Given) => string) => defineError('forbidden', text)

const unreviewed = defineError('review_failed', ({ checks }: Review) => {
  const failed = Object.entries(checks).filter(([, result]) => result.startsWith('fail: '))
  const failures = failed.map(([name, result]) => `${name}: ${result.slice('fail: '.length)}`)
  return `The manifest did not pass its review. ${failures.join(' ')}`
})
/** Refusal by review; the response body carries the review next to the error (docs/api.md 1.5). */
export const reviewFailed = ({ passed, tier, checks }: Review) =>
  unreviewed.with({ topLevel: { review: { passed, tier, checks } } }, { passed, tier, checks })

export const slugTaken = conflict((slug: string) => `The slug "${slug}" is taken or reserved. Choose another.`)

export const claimedByOther = conflict(
  (name: string, until: string) => `${name} has claimed this submission until ${until}. Ask them, or wait until then.`,
)
export const notClaimed = conflict(() => 'No one has claimed this submission, so there is no claim to release.')
export const notPublished = conflict(
  (slug: string) =>
    `"${slug}" is not a published skill, so it cannot be taken off the store. Only public, approved skills can.`,
)
export const slugOfOthers = conflict(
  (slug: string) =>
    `The slug "${slug}" belongs to a skill by another author. An import replaces only skills of this server; choose another slug.`,
)
export const notHigher = conflict(
  (slug: string, version: string) => `"${slug}" already has version ${version}. Import a higher version.`,
)

export const suspendedSkill = conflict(
  () => 'This skill is suspended, so no new version can be submitted until a reviewer reinstates it.',
)

export const tooManyDrafts = conflict(
  (max: number) => `You have ${max} drafts, which is the maximum per author. Delete or submit one of them first.`,
)

export const takenDown = conflict(() => 'A reviewer took this skill down. It can be deleted once it is reinstated.')

export const underReview = conflict(
  () =>
    'A version of this skill is under review and cannot be changed. Withdraw that submission first, or submit a higher version.',
)

export const publishedSkill = conflict(
  (what: string) =>
    `This skill is published and others use it, so it cannot be ${what}. Submit a new version, or ask a reviewer to take it down.`,
)

export const notTheAuthor = forbidden((what: string) => `Only the author of a skill may ${what} it.`)

export const ownSkill = forbidden(() => 'You are the author of this skill, and authors cannot rate their own skills.')

export const reviewersOnly = forbidden(
  () => 'Only platform reviewers, signed in to the dashboard, can decide on submissions.',
)

export const securityReviewersOnly = forbidden(
  () => 'This submission has tier security. Only a security reviewer or an admin can decide on it.',
)

export const ownSubmission = forbidden(() => 'This submission is your own. Another reviewer has to decide on it.')

export const notInState = conflict(
  (status: SubmissionStatus, wanted: string) => `This submission is ${status}, so it cannot be ${wanted}.`,
)

export const notInForce = conflict(
  () => 'This submission was replaced by a newer version. Decide on the submission of that version.',
)

export const unreadDiff = conflict(
  () =>
    'A submission of tier security can be approved only after you read its diff. Run svc-admin submissions diff and send the sha that it prints last.',
)

export const notAMember = forbidden(
  () =>
    'You are not a member of "target_org_id" with a role that may manage its skills. Ask an owner or admin of the organization.',
)

export const configTooLarge = (bytes: number, max: number) =>
  invalidInput('config', `"config" has ${bytes} bytes as JSON; at most ${max} are allowed.`)

export const nothingToChange = () =>
  invalidInput(
    '',
    'The body changes nothing. Send at least one of name, description, system_prompt_ext and tool_definitions.',
  )
