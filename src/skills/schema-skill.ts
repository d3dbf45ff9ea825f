import { OrgId, UserId } from '../kernel/ids'
import { JsonObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'
import { SkillId, VISIBILITIES } from './ids'
import { ManifestTool, SKILL_CATEGORIES } from './manifest'

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
export const SkillEntry = t.Object(
  { ...entry, ...SkillDetails.properties, enabled: t.Optional(t.Boolean()), installedAt: t.Optional(Timestamp) },
  { $id: 'SkillEntry' },
)
export type SkillEntry = Static<typeof SkillEntry>

/** A single skill; only its author sees the prompt (docs/api.md 8.3). */
export const Skill = t.Object(
  {
    ...entry,
    systemPromptExt: t.Optional(t.String()),
    ...SkillDetails.properties,
    hooks: t.Array(oneOf(HOOKS), {
      description: 'Events on which the skill runs a prompt by itself; the account that installs it pays',
    }),
  },
  { $id: 'Skill' },
)
export type Skill = Static<typeof Skill>
