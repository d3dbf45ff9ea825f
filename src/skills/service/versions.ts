import type { EventKind } from '../../events'
import { type Call, type Caller, ownerOf, type TenantCaller } from '../../kernel/caller'
import type { Tx } from '../../kernel/store'
import { type SubmissionFacts, skillApproved, skillSubmitted } from '../events'
import type { SkillManifest } from '../manifest'
import { presentSubmission } from '../present'
import { skillRepository as rows, submissionRepository as submissions } from '../repository'
import type { Evidence, Examined } from '../review'
import { isDelisted, listColumnsOf } from '../rules'
import { SkillId, SubmissionId, VersionId } from '../schema'
import type { Review, Submission } from '../schema-skill'
import type { SkillRow, SubmissionRow, VersionRow } from '../table'
import type { SkillDeps } from './deps'
import type { Target } from './submit'

type Ownership = Pick<SkillRow, 'owner' | 'author_user_id' | 'org_scope_id' | 'visibility' | 'status'>

/** A new skill row from its first manifest, without installations, ratings or a live version. */
export const newSkill = (manifest: SkillManifest, state: Ownership, now: number): Omit<SkillRow, 'seq'> => ({
  id: SkillId.create(),
  slug: manifest.slug,
  ...state,
  ...listColumnsOf(manifest),
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

type NewVersion = {
  manifest: SkillManifest
  review: Review
  evidence: Evidence[]
  updating: SkillRow | null
  target: Target
}

/**
 * Stores a version that passed its checks. Tier auto goes live at once. Other tiers wait for a reviewer while the
 * earlier version stays live (docs/attacks.md L7). Withdraws an earlier version that is still waiting.
 */
export async function publishVersion(deps: SkillDeps, tx: Tx, call: Call, input: NewVersion): Promise<Submission> {
  const { manifest, review, evidence, updating, target } = input
  const now = deps.clock.now()
  const skill = updating ?? (await insertSkill(tx, call.caller, input, now))
  if (updating) await replacePending(deps, tx, call, skill)
  const version = newVersion(skill.id, manifest, now)
  await rows.insertVersion(tx, version)
  const { tier, checks } = review
  const auto = tier === 'auto'
  const row = newSubmission(
    version,
    { tier, checks, evidence },
    {
      owner: skill.owner,
      author_user_id: call.caller.userId,
      visibility: target.visibility,
      org_scope_id: target.orgId,
      status: auto ? 'approved' : 'pending_review',
      auto_approved: auto,
      reason: null,
    },
  )
  await submissions.insert(tx, row)
  await recordSubmissionChange(deps, tx, call, row, skillSubmitted)
  if (auto) {
    await activateVersion(deps, tx, row, manifest)
    await recordSubmissionChange(deps, tx, call, row, skillApproved)
  } else {
    const status = skill.live_version_id ? skill.status : ('pending_review' as const)
    await rows.update(tx, skill.id, { status, draft_version_id: version.id, updated_at: now })
    await deps.triggers.followAll(tx, skill.id)
  }
  tx.afterCommit(() => deps.changed(null))
  return presentSubmission(row)
}

async function insertSkill(
  tx: Tx,
  caller: TenantCaller,
  { manifest, target }: NewVersion,
  now: number,
): Promise<SkillRow> {
  const state = {
    owner: ownerOf(caller),
    author_user_id: caller.userId,
    org_scope_id: target.orgId,
    visibility: target.visibility,
    status: 'pending_review' as const,
  }
  const row = newSkill(manifest, state, now)
  await rows.insert(tx, row)
  return row as SkillRow
}

/** Makes a submission's version live and supersedes the earlier one. */
export async function activateVersion(
  { clock, triggers }: Pick<SkillDeps, 'clock' | 'triggers'>,
  tx: Tx,
  row: SubmissionRow,
  manifest: SkillManifest,
) {
  const isOffStore = isDelisted((await rows.find(tx, row.skill_id))!)
  await rows.supersede(tx, row.skill_id)
  await rows.updateVersion(tx, row.version_id, { status: 'active' })
  await rows.update(tx, row.skill_id, {
    ...listColumnsOf(manifest),
    live_version_id: row.version_id,
    draft_version_id: null,
    status: 'approved',
    visibility: row.visibility,
    org_scope_id: row.org_scope_id,
    listed: row.visibility === 'public' && !isOffStore,
    updated_at: clock.now(),
  })
  await triggers.followAll(tx, row.skill_id)
}

/** Withdraws the pending submission that a newer version replaces. */
async function replacePending(deps: SkillDeps, tx: Tx, call: Call, skill: SkillRow): Promise<void> {
  const waiting = await submissions.pendingOf(tx, skill.id)
  if (!waiting) return
  const change = {
    status: 'withdrawn' as const,
    reason: 'A newer version was submitted.',
    updated_at: deps.clock.now(),
  }
  const row = await submissions.move(tx, waiting.id, 'pending_review', change)
  if (!row) return
  await rows.updateVersion(tx, row.version_id, { status: 'withdrawn' })
  await deps.audit.record(tx, call, {
    action: 'skill.withdrawn',
    entityType: 'submission',
    entityId: row.id,
    ...aboutOf(row),
  })
}

const factsOf = (row: SubmissionRow): SubmissionFacts => ({
  submission_id: row.id,
  skill_id: row.skill_id,
  slug: row.slug,
  version: row.manifest_version,
  status: row.status,
  review_tier: row.tier,
  auto_approved: row.auto_approved,
  reason: row.reason,
})

const aboutOf = (row: SubmissionRow) => {
  const { submission_id: _, ...metadata } = factsOf(row)
  return { scope: row.owner, input: { metadata } }
}

/** Writes an audit entry for a submission's new state and emits its event. */
export async function recordSubmissionChange(
  { audit, events }: Pick<SkillDeps, 'audit' | 'events'>,
  tx: Tx,
  call: Call<Caller>,
  row: SubmissionRow,
  kind: EventKind<SubmissionFacts>,
): Promise<void> {
  const action = kind.type as `skill.${string}`
  await audit.record(tx, call, { action, entityType: 'submission', entityId: row.id, ...aboutOf(row) })
  if (row.owner !== 'server') await events.emit(tx, kind, row.owner, factsOf(row))
}

export { aboutOf }
