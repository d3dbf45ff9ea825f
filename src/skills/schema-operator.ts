import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'
import { DecisionOrder, REVIEW_TIERS, SubmissionQuery, SubmissionRecord } from './schema-review'

export const OperatorSubmissionQuery = t.Object({
  ...SubmissionQuery.properties,
  tier: t.Optional(oneOf(REVIEW_TIERS)),
})
export type OperatorSubmissionQuery = Static<typeof OperatorSubmissionQuery>

export const OperatorDecision = t.Object({
  ...DecisionOrder.properties,
  read_diff: t.Optional(t.String({ maxLength: 64, description: 'The sha of the diff that was read' })),
})
export type OperatorDecision = Static<typeof OperatorDecision>

const Finding = t.Object({
  check: t.String(),
  severity: oneOf(['warn', 'fail'] as const),
  path: t.String(),
  line: nullable(t.Integer()),
  message: t.String(),
  excerpt: t.Optional(t.String()),
})

export const OperatorSubmission = t.Object({
  ...SubmissionRecord.properties,
  name: t.String(),
  live_version: nullable(t.String()),
  findings: t.Array(Finding),
  manifest: JsonObject,
})

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
  sha: t.String({ description: 'Names this diff; approving tier security asks for it' }),
})
