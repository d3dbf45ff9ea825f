import { defineError, invalidInput } from '../kernel/errors'
import type { Review, SubmissionStatus } from './schema-review'

export const skillNotFound = defineError('missing', 'not_found', () => 'No skill with this id.')
export const submissionNotFound = defineError('missing', 'not_found', () => 'No submission with this id.')
export const notInstalled = defineError('missing', 'not_found', () => 'No installed skill with this id.')

const unreviewed = defineError('rejected', 'review_failed', ({ checks }: Review) => {
  const failed = Object.entries(checks).filter(([, result]) => result.startsWith('fail: '))
  const told = failed.map(([name, result]) => `${name}: ${result.slice('fail: '.length)}`)
  return `The manifest did not pass its review. ${told.join(' ')}`
})
/** Refusal by review; the response body carries the review next to the error (contract 1.5). */
export const reviewFailed = ({ passed, tier, checks }: Review) =>
  unreviewed.with({ beside: { review: { passed, tier, checks } } }, { passed, tier, checks })

export const tooManySubmissions = defineError(
  'throttled',
  'rate_limit_exceeded',
  (most: number, waitS: number) =>
    `An author may submit ${most} skills and versions in 24 hours, and this is one more. Try again in ${waitS} s.`,
)

export const tooManyTrials = defineError(
  'throttled',
  'rate_limit_exceeded',
  (most: number, waitS: number) =>
    `The sandbox costs nothing and is there ${most} times a day, and this is one more. Try again in ${waitS} s, or install the skill and ask for a completion.`,
)

export const slugTaken = defineError(
  'conflict',
  'conflict',
  (slug: string) => `The slug "${slug}" is taken or reserved. Choose another.`,
)

export const claimedByOther = defineError(
  'conflict',
  'conflict',
  (name: string, until: string) => `${name} has claimed this submission until ${until}. Ask them, or wait until then.`,
)
export const notClaimed = defineError('conflict', 'conflict', () => 'You have not claimed this submission.')
export const notPublished = defineError(
  'conflict',
  'conflict',
  (slug: string) => `"${slug}" is not a public skill that was approved, so there is nothing to take off the store.`,
)
export const slugOfOthers = defineError(
  'conflict',
  'conflict',
  (slug: string) =>
    `"${slug}" is the slug of a skill that somebody else made. An import replaces only this server's own.`,
)
export const notHigher = defineError(
  'conflict',
  'conflict',
  (slug: string, version: string) => `"${slug}" is there in version ${version}. An import needs a higher one.`,
)

export const suspendedSkill = defineError(
  'conflict',
  'conflict',
  () => 'This skill is suspended. It takes no new versions until a reviewer reinstates it.',
)

export const tooManyDrafts = defineError(
  'conflict',
  'conflict',
  (most: number) => `You have ${most} drafts, which is the most there may be. Delete or submit one of them first.`,
)

export const takenDown = defineError(
  'conflict',
  'conflict',
  () => 'This skill was taken down by a reviewer. It can be deleted once it is reinstated.',
)

export const underReview = defineError(
  'conflict',
  'conflict',
  () =>
    'A version of this skill is under review, and stays as it was submitted. Withdraw that submission first, or submit a higher version.',
)

export const publishedSkill = defineError(
  'conflict',
  'conflict',
  (what: string) =>
    `This skill is published, and others rely on it: it cannot be ${what} here. Submit a new version, or ask for it to be taken down.`,
)

export const notTheAuthor = defineError(
  'forbidden',
  'forbidden',
  (what: string) => `Only the author of a skill may ${what} it.`,
)

export const ownSkill = defineError('forbidden', 'forbidden', () => 'Authors do not rate their own skills.')

export const reviewersOnly = defineError(
  'forbidden',
  'forbidden',
  () => 'Submissions are decided by platform reviewers, signed in to the dashboard.',
)

export const securityReviewersOnly = defineError(
  'forbidden',
  'forbidden',
  () => 'This submission is of tier security: a security reviewer or an admin decides on it.',
)

export const ownSubmission = defineError(
  'forbidden',
  'forbidden',
  () => 'This submission is your own. Another reviewer decides on it.',
)

export const notInState = defineError(
  'conflict',
  'conflict',
  (status: SubmissionStatus, wanted: string) => `This submission is ${status}, so it cannot be ${wanted}.`,
)

export const notInForce = defineError(
  'conflict',
  'conflict',
  () => 'A newer version is in force. Decide on the submission of that one.',
)

export const unreadDiff = defineError(
  'conflict',
  'conflict',
  () =>
    'A submission of tier security is approved only after its diff was read. Run svc-admin submissions diff, and send what it prints at the end.',
)

export const orgMissing = defineError(
  'invalid',
  'validation_error',
  () =>
    '"visibility" is "org" and "target_org_id" is missing. Send the id of the organization whose members may use it.',
)

export const notAMember = defineError(
  'forbidden',
  'forbidden',
  () => 'You are no member of "target_org_id" who may manage its skills.',
)

export const configTooLarge = (bytes: number, most: number) =>
  invalidInput('config', `"config" has ${bytes} bytes as JSON; at most ${most} are allowed.`)

export const nothingToChange = () =>
  invalidInput(
    '',
    'The body changes nothing. Send at least one of name, description, system_prompt_ext and tool_definitions.',
  )

export const nameOne = defineError('invalid', 'validation_error', () => 'Name the skill: send "skillId" or "slug".')
