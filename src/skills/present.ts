import { iso, isoOrNull } from '../kernel/clock'
import type { SkillManifest } from './manifest'
import { isOwn, type Viewer } from './rules'
import type { Installation, Skill, SkillDetails, SkillEntry, SkillReview, SkillVersion } from './schema'
import type { OperatorRecord } from './schema-operator'
import { HOOKS, type SkillOutline, type Submission, type SubmissionRecord } from './schema-skill'
import type { InstallationRow, ListedRow, SkillReviewRow, SkillRow, SubmissionRow, VersionRow } from './table'

/** The members of a skill shown in every list. */
export const presentOutline = (row: ListedRow): SkillOutline => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  category: row.category as SkillOutline['category'],
  version: row.version,
  installCount: row.install_count,
  isPublic: row.visibility === 'public',
  visibility: row.visibility,
  reviewStatus: row.status,
  authorUserId: row.author_user_id,
  orgScopeId: row.org_scope_id,
  keywords: row.keywords,
  averageRating: averageOf(row),
  comingSoon: false,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
})

export const averageOf = ({
  rating_sum,
  rating_count,
}: Pick<SkillRow, 'rating_sum' | 'rating_count'>): number | null =>
  rating_count === 0 ? null : Math.round((rating_sum / rating_count) * 100) / 100

/** A skill with its details. Only its author sees the prompt and the tools' endpoints. */
export function presentSkill(row: SkillRow, manifest: SkillManifest, viewer: Viewer): Skill {
  const own = isOwn(row, viewer)
  return {
    ...presentOutline(row),
    ...(own ? { systemPromptExt: manifest.systemPromptExtension } : {}),
    ...detailsOf(manifest, own),
    hooks: HOOKS.filter((hook) => manifest.hooks?.[hook]),
  }
}

/** The details of a manifest. Only its author sees the tools' endpoints. */
export function detailsOf(manifest: SkillManifest, own: boolean): SkillDetails {
  const { tools, permissions, readme, license, configSchema, setupGuide } = manifest
  return {
    toolDefinitions: own ? tools : tools.map(({ endpoint: _, ...tool }) => tool),
    declaredPermissions: permissions,
    requiredPermissions: permissions,
    readme: readme ?? null,
    license,
    configSchema: configSchema ?? null,
    setupGuide: setupGuide ?? null,
  }
}

/** A skill in a list. Details are empty when its version was deleted between the two queries. */
export const presentEntry = (row: ListedRow, details: SkillDetails = NO_DETAILS): SkillEntry => ({
  ...presentOutline(row),
  ...details,
})

const NO_DETAILS: SkillDetails = {
  toolDefinitions: [],
  declaredPermissions: [],
  requiredPermissions: [],
  readme: null,
  license: 'MIT',
  configSchema: null,
  setupGuide: null,
}

export const presentInstallation = (row: InstallationRow, skill: SkillRow): Installation => ({
  id: row.id,
  skillId: row.skill_id,
  slug: skill.slug,
  version: skill.version,
  enabled: row.enabled,
  config: row.config,
  intensity: row.intensity,
  priority: row.priority,
  installedAt: iso(row.installed_at),
})

/** Null for a pending version, because it is shown as a submission. */
export function presentVersion(
  { id, version, status, manifest, created_at }: VersionRow,
  own: boolean,
): SkillVersion | null {
  if (status === 'pending') return null
  const { systemPromptExtension: _, knowledgeFiles: __, hooks: ___, tools, ...open } = manifest
  return {
    id,
    version,
    status,
    changelog: manifest.changelog ?? null,
    manifestSnapshot: own ? manifest : { ...open, tools: tools.map(({ endpoint: ____, ...tool }) => tool) },
    createdAt: iso(created_at),
  }
}

export const presentSubmission = (row: SubmissionRow): Submission => ({
  id: row.id,
  status: row.status,
  reviewTier: row.tier,
  autoApproved: row.auto_approved,
  skillId: row.skill_id,
  manifestVersion: row.manifest_version,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
})

export const presentRecord = (row: SubmissionRow): SubmissionRecord => ({
  ...presentSubmission(row),
  slug: row.slug,
  visibility: row.visibility,
  reason: row.reason,
  reasonCode: row.reason_code,
  review: { passed: true, tier: row.tier, checks: row.checks },
})

/** A submission with its current claim, for reviewers. */
export const presentOperated = (row: SubmissionRow, holder: string | null): OperatorRecord => ({
  ...presentRecord(row),
  owner: row.owner,
  claimedBy: holder,
  claimedUntil: holder === null ? null : isoOrNull(row.claimed_until),
})

export const presentRating = ({ id, rating, body, user_id, created_at }: SkillReviewRow): SkillReview => ({
  id,
  rating,
  body,
  authorUserId: user_id,
  createdAt: iso(created_at),
})
