import type { Tx } from '../../kernel/store'
import { reviewFailed } from '../errors'
import type { SkillManifest } from '../manifest'
import { skillRepository as rows } from '../repository'
import { submissionRepository as submissions } from '../repository-submissions'
import { complete, examine } from '../review'
import type { SkillId } from '../schema'
import { isHigher } from '../semver'
import { STARTERS } from '../starters'
import type { SkillDeps } from './deps'
import { newSkill, newSubmission, newVersion } from './new-rows'
import { putInForce } from './versions'

/**
 * Puts the skills that ship with the server into its store at start, through the review that everyone's go
 * through; a higher version replaces the one there. A slug that someone else has stays theirs. Answers the
 * slugs that were put in.
 */
export const createStarters = (deps: SkillDeps) => async (): Promise<string[]> => {
  const put: string[] = []
  for (const written of STARTERS) {
    const known = await rows.bySlug(deps.store.read, written.slug)
    if (known && (known.owner !== 'server' || !isHigher(written.version, known.version))) continue
    await deps.store.write(async (tx) => {
      const about = await publishAsServer(deps, tx, written, 'Ships with the server.')
      await deps.audit.recordUnattended(tx, { scope: 'server', requestId: 'start' }, about)
    })
    put.push(written.slug)
  }
  if (put.length) deps.changed(null)
  return put
}

/** What this server says is its own, and everybody's to use. */
const OWN = { owner: 'server', author_user_id: null, visibility: 'public', org_scope_id: null } as const

/**
 * Puts a manifest in force as this server's own skill, reviewed like any other. Answers its entry in the
 * record. Throws 422 `review_failed`.
 */
export async function publishAsServer(deps: SkillDeps, tx: Tx, written: Record<string, unknown>, reason: string) {
  const examined = examine(written)
  const slug = String(written.slug)
  const version = String(written.version)
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
