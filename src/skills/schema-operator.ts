import { JsonObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Checks, DecisionInput, REVIEW_TIERS, SubmissionQuery, SubmissionRecord } from './schema-skill'

/** The operator who has claimed a submission, shown to the other operators (docs/operating.md 2.11). */
const claim = { claimedBy: nullable(t.String()), claimedUntil: nullable(Timestamp) }
export const OperatorRecord = t.Object({
  ...SubmissionRecord.properties,
  ...claim,
  owner: t.String({ description: 'Who submitted it: `org:ID`, `user:ID` or `server`' }),
})
export type OperatorRecord = Static<typeof OperatorRecord>
export const OperatorSubmissionPage = pageOf('submissions', OperatorRecord)

export const OperatorSubmissionQuery = t.Object({
  ...SubmissionQuery.properties,
  tier: t.Optional(oneOf(REVIEW_TIERS)),
  mine: t.Optional(t.Boolean({ description: 'Only submissions the caller has claimed' })),
})
export type OperatorSubmissionQuery = Static<typeof OperatorSubmissionQuery>

export const OperatorDecision = t.Object({
  ...DecisionInput.properties,
  read_diff: t.Optional(
    t.String({ maxLength: 64, description: '`sha` of the diff that was read; approving tier security needs it' }),
  ),
})
export type OperatorDecision = Static<typeof OperatorDecision>

/** `line` counts within the member's text; null when the finding is not about a line. */
export const SkillFinding = t.Object({
  check: t.String(),
  severity: oneOf(['warn', 'fail'] as const),
  path: t.String(),
  line: nullable(t.Integer()),
  message: t.String(),
  excerpt: t.Optional(t.String()),
})

export const OperatorSubmission = t.Object({
  ...OperatorRecord.properties,
  name: t.String(),
  live_version: nullable(t.String()),
  installed_by: t.Integer({
    description: 'How many owners have the skill installed; they get the version on approval',
  }),
  tier_reasons: t.Array(t.String(), { description: 'Why the submission has its review tier' }),
  findings: t.Array(SkillFinding),
  manifest: JsonObject,
})
export type OperatorSubmission = Static<typeof OperatorSubmission>

export const OperatorChecks = t.Object({
  tier: oneOf(REVIEW_TIERS),
  checks: Checks,
  findings: t.Array(SkillFinding),
  rerun: t.Boolean({ description: "true: today's checks were run again; false: the results stored at submission" }),
})
export type OperatorChecks = Static<typeof OperatorChecks>

const DecidedTier = t.Object({
  tier: oneOf(REVIEW_TIERS),
  waiting: t.Integer(),
  approved: t.Integer(),
  auto_approved: t.Integer(),
  rejected: t.Integer(),
  withdrawn: t.Integer(),
  suspended: t.Integer(),
  oldest_waiting_s: nullable(t.Integer({ description: 'Seconds the oldest submission has waited' })),
  decided_in_s: nullable(
    t.Integer({ description: 'Mean seconds from submission to decision, of submissions decided by people' }),
  ),
})
export const SubmissionStats = t.Object({ tiers: t.Array(DecidedTier) })
export type SubmissionStats = Static<typeof SubmissionStats>

export const OperatorDiff = t.Object({
  parts: t.Array(
    t.Object({
      path: t.String(),
      lines: t.Array(
        t.Object({
          sign: oneOf([' ', '+', '-'] as const),
          number: t.Integer(),
          text: t.String(),
          suspicious: t.Boolean(),
        }),
      ),
    }),
  ),
  added: t.Integer(),
  removed: t.Integer(),
  sha: t.String({
    description: 'Identifies this diff; send it as `read_diff` to approve a submission of tier security',
  }),
})
export type OperatorDiff = Static<typeof OperatorDiff>
