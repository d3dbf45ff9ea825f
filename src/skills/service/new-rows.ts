import type { SkillManifest } from '../manifest'
import type { Examined } from '../review'
import { facesOf } from '../rules'
import { SkillId, SubmissionId, VersionId } from '../schema'
import type { SkillRow, SubmissionRow, VersionRow } from '../table'

type SessionState = Pick<SkillRow, 'owner' | 'author_user_id' | 'org_scope_id' | 'visibility' | 'status'>

/** A new skill row from its first manifest: no installations, no ratings, no live version. */
export const newSkill = (manifest: SkillManifest, state: SessionState, now: number): Omit<SkillRow, 'seq'> => ({
  id: SkillId.create(),
  slug: manifest.slug,
  ...state,
  ...facesOf(manifest),
  live_version_id: null,
  draft_version_id: null,
  listed: false,
  install_count: 0,
  rating_sum: 0,
  rating_count: 0,
  rating: 0,
  created_at: now,
  updated_at: now,
})

/** A new version, pending until it goes live. */
export const newVersion = (skill_id: SkillId, manifest: SkillManifest, now: number): VersionRow => ({
  id: VersionId.create(),
  skill_id,
  version: manifest.version,
  status: 'pending',
  manifest,
  created_at: now,
})

type Examination = Pick<Examined, 'tier' | 'checks' | 'evidence'>
type Input = Pick<
  SubmissionRow,
  'owner' | 'author_user_id' | 'visibility' | 'org_scope_id' | 'status' | 'auto_approved' | 'reason'
>

/** A new submission with its review's results, unclaimed. */
export const newSubmission = (
  { id, skill_id, version, manifest, created_at }: VersionRow,
  { tier, checks, evidence }: Examination,
  input: Input,
): SubmissionRow => ({
  id: SubmissionId.create(),
  skill_id,
  version_id: id,
  slug: manifest.slug,
  manifest_version: version,
  ...input,
  tier,
  reason_code: null,
  claimed_by: null,
  claimed_until: null,
  checks,
  evidence,
  created_at,
  updated_at: created_at,
})
