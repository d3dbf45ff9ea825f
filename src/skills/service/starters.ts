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
 * Publishes the bundled skills at start, in one transaction. A higher version replaces the stored one; a slug owned by
 * a tenant is left alone. Returns the published slugs.
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

/** Ownership of the server's own skills, which are public. */
const OWN = { owner: 'server', author_user_id: null, visibility: 'public', org_scope_id: null } as const

type Publication = { slug: string; version: string; reason: string }

/**
 * Publishes an examined manifest as the server's own skill. Returns its audit entry. Throws 422 `review_failed` when
 * the review did not pass.
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
