import { UserId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { ManifestTool, SKILL_CATEGORIES, SKILL_FIELDS } from './manifest'
import {
  InstallationId,
  ManifestWarnings,
  REVIEW_STATUSES,
  Skill,
  SkillDetails,
  SkillEntry,
  SkillId,
  SkillOutline,
  SkillReviewId,
  VersionId,
} from './schema-skill'

export const OperatorSkillQuery = t.Object({
  ...PageQuery.properties,
  status: t.Optional(oneOf(REVIEW_STATUSES)),
  category: t.Optional(oneOf(SKILL_CATEGORIES)),
  owner: t.Optional(
    t.String({
      maxLength: 256,
      description: 'Owner: an org or a user; `server` for the skills that ship with this server',
    }),
  ),
  key: t.Optional(
    t.String({ maxLength: 256, description: 'Instead of the owner, one of its keys: id, prefix or name' }),
  ),
  installed: t.Optional(
    t.Boolean({ description: 'List the skills the owner has installed instead of those it wrote' }),
  ),
})

export type OperatorSkillQuery = Static<typeof OperatorSkillQuery>

/** Members added for operators: the owner, and whether the store lists the skill. */
const operated = { owner: t.String(), listed: t.Boolean() }

export const OperatorSkillEntry = t.Object({ ...SkillOutline.properties, ...operated })

export type OperatorSkillEntry = Static<typeof OperatorSkillEntry>

export const OperatorSkillPage = pageOf('skills', OperatorSkillEntry)

export const OperatorSkill = t.Object({ ...Skill.properties, ...operated, manifest: JsonObject })

export type OperatorSkill = Static<typeof OperatorSkill>

export const Takedown = t.Object({
  also_installed: t.Optional(t.Boolean({ description: 'Also stop the skill for everyone who has it installed' })),
})

export const ImportInput = t.Object({ manifest: JsonObject })

export const Imported = t.Object({
  id: SkillId.schema,
  slug: t.String(),
  version: t.String(),
  isNew: t.Boolean(),
  warnings: ManifestWarnings,
})

export type Imported = Static<typeof Imported>

export {
  MANIFEST_LIMITS,
  Manifest,
  Words,
  type WrittenManifest,
} from './manifest'
export {
  OperatorChecks,
  OperatorDecision,
  OperatorDiff,
  OperatorRecord,
  OperatorSubmission,
  OperatorSubmissionPage,
  OperatorSubmissionQuery,
  SubmissionStats,
} from './schema-operator'
export {
  InstallationId,
  ManifestWarnings,
  REASON_CODES,
  REVIEW_STATUSES,
  REVIEW_TIERS,
  Review,
  type ReviewStatus,
  SkillId,
  SkillReviewId,
  SUBMISSION_STATUSES,
  Submission,
  SubmissionId,
  VersionId,
  VISIBILITIES,
  type Visibility,
} from './schema-skill'
export { Skill, SkillDetails, SkillEntry }

const SKILL_FILTERS = ['marketplace', 'installed', 'mine'] as const
export const SKILL_SORTS = ['installs', 'rating', 'newest'] as const
export type SkillSort = (typeof SKILL_SORTS)[number]

export const SkillQuery = t.Object({
  ...PageQuery.properties,
  filter: t.Optional(oneOf(SKILL_FILTERS)),
  category: t.Optional(oneOf(SKILL_CATEGORIES)),
  q: t.Optional(t.String({ maxLength: 200, description: 'Words to find in the name, description, keywords or slug' })),
  sort: t.Optional(oneOf(SKILL_SORTS)),
})
export type SkillQuery = Static<typeof SkillQuery>
export const SkillPage = pageOf('skills', SkillEntry)
/** The written skill, with warnings about dropped members. */
export const SkillReply = t.Object({ skill: Skill, warnings: ManifestWarnings })
export type SkillReply = Static<typeof SkillReply>

/** Body of install and uninstall: `skillId` or `slug`. */
export const SkillRef = namedObject('SkillRef', {
  skillId: t.Optional(t.String({ format: 'uuid' })),
  slug: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
})
export type SkillRef = Static<typeof SkillRef>
export const Installed = t.Object({ installed: t.Literal(true) })
export const Uninstalled = t.Object({ uninstalled: t.Literal(true) })
export const SkillDeleted = t.Object({ deleted: t.Literal(true) })

export const InstallationPatch = t.Object({
  enabled: t.Optional(t.Boolean()),
  config: t.Optional(JsonObject),
  intensity: t.Optional(t.Number({ minimum: 0, maximum: 1 })),
  priority: t.Optional(t.Integer({ minimum: -1_000, maximum: 1_000 })),
})
export type InstallationPatch = Static<typeof InstallationPatch>

export const Installation = namedObject('SkillInstallation', {
  id: InstallationId.schema,
  skillId: SkillId.schema,
  slug: t.String(),
  version: t.String(),
  enabled: t.Boolean(),
  config: JsonObject,
  intensity: t.Number(),
  priority: t.Integer(),
  installedAt: Timestamp,
})
export type Installation = Static<typeof Installation>
export const InstallationReply = t.Object({ installation: Installation })

const prompt = t.String({ minLength: 1, maxLength: 20_000 })

/** Body of `POST /skills/create`. */
export const NewSkill = namedObject('NewSkill', {
  name: SKILL_FIELDS.name,
  slug: SKILL_FIELDS.slug,
  category: SKILL_FIELDS.category,
  system_prompt_ext: prompt,
  description: t.Optional(SKILL_FIELDS.description),
  tool_definitions: t.Optional(t.Array(ManifestTool, { maxItems: 20 })),
  is_public: t.Optional(t.Boolean()),
})
export type NewSkill = Static<typeof NewSkill>

export const SkillPatch = namedObject('SkillPatch', {
  name: t.Optional(SKILL_FIELDS.name),
  description: t.Optional(SKILL_FIELDS.description),
  system_prompt_ext: t.Optional(prompt),
  tool_definitions: t.Optional(t.Array(ManifestTool, { maxItems: 20 })),
})
export type SkillPatch = Static<typeof SkillPatch>

export const SkillVersion = namedObject('SkillVersion', {
  id: VersionId.schema,
  version: t.String(),
  status: oneOf(['active', 'superseded', 'withdrawn'] as const),
  changelog: nullable(t.String()),
  manifestSnapshot: JsonObject,
  createdAt: Timestamp,
})
export type SkillVersion = Static<typeof SkillVersion>
export const SkillVersions = t.Object({ versions: t.Array(SkillVersion) })

export const SkillReview = namedObject('SkillReview', {
  id: SkillReviewId.schema,
  rating: t.Integer(),
  body: nullable(t.String()),
  authorUserId: UserId.schema,
  createdAt: Timestamp,
})
export type SkillReview = Static<typeof SkillReview>

export const SkillReviewPage = t.Object({
  reviews: t.Array(SkillReview),
  average_rating: nullable(t.Number()),
  total: t.Integer(),
  has_more: t.Boolean(),
  next_cursor: nullable(t.String()),
})
/** The list of ratings for operators. */
export const OperatorReviewPage = pageOf('reviews', SkillReview)

export const SkillReviewReply = t.Object({ review: SkillReview })
export const NewSkillReview = t.Object({
  rating: t.Integer({ minimum: 1, maximum: 5 }),
  body: t.Optional(nullable(t.String({ maxLength: 2_000 }))),
})
export type NewSkillReview = Static<typeof NewSkillReview>

/** Body of `POST /skills/sandbox`: either `skill_id` or `manifest`, and a prompt. */
export const SandboxInput = namedObject('SkillSandboxOrder', {
  skill_id: t.Optional(t.String()),
  manifest: t.Optional(JsonObject),
  prompt: t.String({ minLength: 1, maxLength: 20_000 }),
  history: t.Optional(
    t.Array(t.Object({ role: oneOf(['user', 'assistant'] as const), content: t.String({ maxLength: 20_000 }) }), {
      maxItems: 10,
    }),
  ),
})
export type SandboxInput = Static<typeof SandboxInput>

export const SandboxReply = t.Object({
  response: t.String(),
  tools_called: t.Array(t.Object({ name: t.String(), arguments: nullable(JsonObject), result: t.Unknown() })),
  cost_cents: t.Literal(0),
})

export const EarningsQuery = t.Object({ from: t.Optional(t.String()), to: t.Optional(t.String()) })
export type EarningsQuery = Static<typeof EarningsQuery>
export const Earnings = t.Object({
  period: t.Object({ from: Timestamp, to: Timestamp }),
  total_cents: t.Number(),
  by_skill: t.Array(
    t.Object({ skillId: SkillId.schema, slug: t.String(), activations: t.Integer(), earned_cents: t.Number() }),
  ),
})
export type Earnings = Static<typeof Earnings>
