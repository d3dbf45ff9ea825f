import type { Tx } from '../../kernel/store'
import { reviewFailed } from '../errors'
import type { SkillManifest } from '../manifest'
import { skillRepository as rows } from '../repository'
import { submissionRepository as submissions } from '../repository-submissions'
import { complete, type Examined } from '../review'
import type { SkillId } from '../schema'
import { isHigher } from '../semver'
import { REVIEW_OF_STARTERS, STARTERS } from '../starters'
import type { SkillDeps } from './deps'
import { newSkill, newSubmission, newVersion } from './new-rows'
import { putInForce } from './versions'

/**
 * Puts the skills that ship with the server into its store at start, all in one unit; a higher version replaces
 * the one there. A slug that someone else has stays theirs. Answers the slugs that were put in.
 */
export const createStarters = (deps: SkillDeps) => async (): Promise<string[]> => {
  const missing: SkillManifest[] = []
  for (const starter of STARTERS) {
    const known = await rows.bySlug(deps.store.read, starter.slug)
    if (!known || (known.owner === 'server' && isHigher(starter.version, known.version))) missing.push(starter)
  }
  if (!missing.length) return []
  await deps.store.write(async (tx) => {
    for (const manifest of missing) {
      const { slug, version } = manifest
      const reviewed = { manifest, ...REVIEW_OF_STARTERS }
      const about = await publishAsServer(deps, tx, reviewed, { slug, version, reason: 'Ships with the server.' })
      await deps.audit.recordUnattended(tx, { scope: 'server', requestId: 'start' }, about)
    }
  })
  deps.changed(null)
  return missing.map(({ slug }) => slug)
}

/** What this server says is its own, and everybody's to use. */
const OWN = { owner: 'server', author_user_id: null, visibility: 'public', org_scope_id: null } as const

type Publication = { slug: string; version: string; reason: string }

/**
 * Puts a manifest in force as this server's own skill, with what the review said of it. Answers its entry in the
 * record. Throws 422 `review_failed`.
 */
export async function publishAsServer(deps: SkillDeps, tx: Tx, examined: Examined, publication: Publication) {
  const { slug, version, reason } = publication
  const { review, evidence } = complete(examined, { slug, version, earlier: [], updating: slug, taken: 'own' })
  if (!examined.manifest || !review.passed) throw reviewFailed(review)
  const now = deps.clock.now()
  const skillId = (await rows.bySlug(tx, slug))?.id ?? (await insert(tx, examined.manifest, now))
  const { manifest } = examined
  const submitted = newVersion(skillId, manifest, now)
  await rows.insertVersion(tx, submitted)
  const examination = { tier: review.tier, checks: review.checks, evidence }
  const row = newSubmission(submitted, examination, { ...OWN, status: 'approved', auto_approved: false, reason })
  await submissions.insert(tx, row)
  await putInForce(deps, tx, row, manifest)
  return {
    action: 'skill.approved',
    entityType: 'submission' as const,
    entityId: row.id,
    input: { metadata: { slug, version } },
  }
}

async function insert(tx: Tx, manifest: SkillManifest, now: number): Promise<SkillId> {
  const skill = newSkill(manifest, { ...OWN, status: 'pending_review' }, now)
  await rows.insert(tx, skill)
  return skill.id
}
