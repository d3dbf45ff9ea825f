import { defineId, type Id, OrgId, UserId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { ManifestTool, SKILL_CATEGORIES } from './manifest'

export const SkillId = defineId('skill')
export type SkillId = Id<'skill'>
export const VersionId = defineId('skill version')
export type VersionId = Id<'skill version'>
export const SubmissionId = defineId('submission')
export type SubmissionId = Id<'submission'>
export const InstallationId = defineId('installation')
export type InstallationId = Id<'installation'>
export const SkillReviewId = defineId('skill review')
export type SkillReviewId = Id<'skill review'>

export const VISIBILITIES = ['private', 'org', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** Who must approve a version before others may use it: nobody, staff or the security team. */
export const REVIEW_TIERS = ['auto', 'staff', 'security'] as const
export type Tier = (typeof REVIEW_TIERS)[number]

export const SUBMISSION_STATUSES = ['approved', 'pending_review', 'rejected', 'suspended', 'withdrawn'] as const
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number]

/** Kinds of rejection. */
export const REASON_CODES = ['policy', 'quality', 'security', 'duplicate'] as const
export type ReasonCode = (typeof REASON_CODES)[number]

/** Check name to `pass`, `warn: <text>` or `fail: <text>` (docs/api.md 8.2). */
export const Checks = t.Record(t.String(), t.String(), {
  description: 'Result of each check by its name: `pass`, `warn: <text>` or `fail: <text>`',
})
export type Checks = Static<typeof Checks>

export const Review = namedObject('SkillReviewResult', {
  passed: t.Boolean(),
  tier: oneOf(REVIEW_TIERS),
  checks: Checks,
})
export type Review = Static<typeof Review>

const core = {
  id: SubmissionId.schema,
  status: oneOf(SUBMISSION_STATUSES),
  reviewTier: oneOf(REVIEW_TIERS),
  autoApproved: t.Boolean(),
  skillId: SkillId.schema,
  manifestVersion: t.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

/** Warnings that name the manifest members that were dropped. */
export const ManifestWarnings = t.Array(t.String({ description: 'Names members of the manifest that were left out' }))

export const Submission = t.Object(core, { $id: 'SkillSubmission' })
export type Submission = Static<typeof Submission>

export const SubmissionRecord = namedObject('SkillSubmissionRecord', {
  ...core,
  slug: t.String(),
  visibility: oneOf(VISIBILITIES),
  reason: nullable(t.String()),
  reasonCode: nullable(oneOf(REASON_CODES)),
  review: Review,
})
export type SubmissionRecord = Static<typeof SubmissionRecord>

/** Body of `POST /skills/submit`. The manifest is validated by the review. */
export const SubmitInput = namedObject('SkillSubmitOrder', {
  manifest: JsonObject,
  skill_id: t.Optional(nullable(t.String({ description: 'The skill this is a new version of' }))),
  visibility: t.Optional(
    oneOf(VISIBILITIES, { description: 'Default public; for a new version, the present visibility of the skill' }),
  ),
  target_org_id: t.Optional(nullable(t.String())),
})
export type SubmitInput = Static<typeof SubmitInput>

export const Submitted = t.Object({ submission: Submission, review: Review, warnings: ManifestWarnings })
export type Submitted = Static<typeof Submitted>

export const SubmissionQuery = t.Object({ ...PageQuery.properties, status: t.Optional(oneOf(SUBMISSION_STATUSES)) })
export type SubmissionQuery = Static<typeof SubmissionQuery>
export const SubmissionPage = pageOf('submissions', SubmissionRecord)
export const SubmissionReply = t.Object({ submission: SubmissionRecord })

const DECISIONS = ['approve', 'reject', 'suspend', 'reinstate'] as const
export type Decision = (typeof DECISIONS)[number]

export const DecisionInput = namedObject('SkillSubmissionDecision', {
  decision: oneOf(DECISIONS),
  reason: t.Optional(nullable(t.String({ minLength: 1, maxLength: 2_000 }))),
  code: t.Optional(oneOf(REASON_CODES, { description: 'Reason code of a rejection' })),
})
export type DecisionInput = Static<typeof DecisionInput>

export const HOOKS = ['onInstall', 'onUninstall'] as const

export const REVIEW_STATUSES = ['draft', 'pending_review', 'approved', 'rejected', 'suspended'] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]

const entry = {
  id: SkillId.schema,
  name: t.String(),
  slug: t.String(),
  description: nullable(t.String()),
  category: oneOf(SKILL_CATEGORIES),
  version: t.String(),
  installCount: t.Integer(),
  isPublic: t.Boolean(),
  visibility: oneOf(VISIBILITIES),
  reviewStatus: oneOf(REVIEW_STATUSES),
  authorUserId: nullable(UserId.schema),
  orgScopeId: nullable(OrgId.schema),
  keywords: t.Array(t.String()),
  averageRating: nullable(t.Number()),
  comingSoon: t.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

/** The members of a skill shown in every list. */
export const SkillOutline = t.Object(entry)
export type SkillOutline = Static<typeof SkillOutline>

/** The details a user needs before installing a skill. */
export const SkillDetails = t.Object({
  toolDefinitions: t.Array(ManifestTool),
  declaredPermissions: t.Array(t.String()),
  requiredPermissions: t.Array(t.String()),
  readme: nullable(t.String()),
  license: t.String(),
  configSchema: nullable(JsonObject),
  setupGuide: nullable(t.String()),
})
export type SkillDetails = Static<typeof SkillDetails>

/** A skill in a list: everything except its prompt (docs/api.md 8.3). */
export const SkillEntry = namedObject('SkillEntry', {
  ...entry,
  ...SkillDetails.properties,
  enabled: t.Optional(t.Boolean()),
  installedAt: t.Optional(Timestamp),
})
export type SkillEntry = Static<typeof SkillEntry>

/** A single skill; only its author sees the prompt (docs/api.md 8.3). */
export const Skill = namedObject('Skill', {
  ...entry,
  systemPromptExt: t.Optional(t.String()),
  ...SkillDetails.properties,
  hooks: t.Array(oneOf(HOOKS), {
    description: 'Events on which the skill runs a prompt by itself; the account that installs it pays',
  }),
})
export type Skill = Static<typeof Skill>
