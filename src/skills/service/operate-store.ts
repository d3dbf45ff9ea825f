import type { Call, OperatorCaller, OwnerScope } from '../../kernel/caller'
import { mapPage, type Page } from '../../kernel/page'
import type { Tx } from '../../kernel/store'
import { notHigher, notPublished, reviewFailed, skillErrors, slugOfOthers } from '../errors'
import { type SkillManifest, warningsOf } from '../manifest'
import { presentOutline, presentRating, presentSkill, presentVersion } from '../present'
import { skillRepository as rows, submissionRepository as submissions } from '../repository'
import { installRepository as installs } from '../repository-installs'
import { complete, type Examined, examine } from '../review'
import { isHigher } from '../review/checks'
import { isDelisted } from '../rules'
import type { Imported, OperatorSkill, OperatorSkillEntry, SkillVersion } from '../schema'
import { REVIEW_OF_STARTERS, STARTERS } from '../starters'
import type { SkillRow } from '../table'
import { settle } from './decide'
import { recordSkill, type SkillDeps } from './deps'
import { activateVersion, newSkill, newSubmission, newVersion } from './versions'

type By = Call<OperatorCaller>
type Query = {
  status?: SkillRow['status'] | undefined
  category?: string | undefined
  owner?: OwnerScope | 'server' | undefined
  installed?: boolean | undefined
  limit: number
  cursor?: string | undefined
}

/** Operators' actions on any skill (docs/operating.md 2.11). */
export function operateStore(deps: SkillDeps) {
  const { store, clock } = deps
  return { list, get, versions, reviews, disable, enable, put }

  /** Newest skills first. With `installed`, an owner's installations, newest first. */
  async function list(_call: By, query: Query): Promise<Page<OperatorSkillEntry>> {
    const { installed, owner } = query
    if (installed && owner && owner !== 'server') {
      return mapPage(await installs.list(store.read, owner, query), ({ skill }) => shown(skill))
    }
    return mapPage(await rows.all(store.read, query), shown)
  }

  /** One skill by id or slug, with its live manifest, or its newest if there is no live one. */
  async function get(_call: By, ref: string): Promise<OperatorSkill> {
    const row = await find(ref)
    const shownId = row.live_version_id ?? row.draft_version_id
    const version = shownId ? await rows.version(store.read, shownId) : (await rows.versions(store.read, row.id, 1))[0]
    if (!version) throw skillErrors.skillNotFound()
    const { manifest } = version
    return { ...presentSkill(row, manifest, { owner: row.owner as OwnerScope, orgIds: [] }), ...shown(row), manifest }
  }

  async function versions(_call: By, ref: string): Promise<SkillVersion[]> {
    const all = await rows.versions(store.read, (await find(ref)).id)
    return all.map((version) => presentVersion(version, true)).filter((version) => version !== null)
  }

  async function reviews(_call: By, ref: string, limit: number, cursor: string | undefined) {
    return mapPage(await installs.ratings(store.read, (await find(ref)).id, { limit, cursor }), presentRating)
  }

  /** Removes a skill from the store. With `alsoInstalled`, suspends it for everyone. Throws 409 if it is not public. */
  async function disable(call: By, ref: string, alsoInstalled: boolean): Promise<OperatorSkillEntry> {
    const row = await find(ref)
    if (alsoInstalled) return move(call, row, 'suspend')
    return setListed(call, row, false)
  }

  /** Reverses both kinds of `disable`. */
  async function enable(call: By, ref: string): Promise<OperatorSkillEntry> {
    const row = await find(ref)
    return row.status === 'suspended' ? move(call, row, 'reinstate') : setListed(call, row, true)
  }

  async function move(call: By, { id, slug, live_version_id }: SkillRow, decision: 'suspend' | 'reinstate') {
    const live = live_version_id ? await submissions.ofVersion(store.read, id, live_version_id) : undefined
    if (!live) throw notPublished(slug)
    await settle(deps, call, live.id, { decision, reason: call.caller.reason }, () => {})
    return shown((await rows.find(store.read, id))!)
  }

  function setListed(call: By, { id }: SkillRow, listed: boolean): Promise<OperatorSkillEntry> {
    return store.write(async (tx) => {
      const row = (await rows.lock(tx, id))!
      if (row.listed === listed) return shown(row)
      if (!row.listed && !isDelisted(row)) throw notPublished(row.slug)
      const after = await rows.update(tx, id, { listed, updated_at: clock.now() })
      await recordSkill(deps, tx, call, row, { action: listed ? 'skill.listed' : 'skill.unlisted' }, row.owner)
      return shown(after)
    })
  }

  /**
   * Publishes a manifest exported from another server as the server's own skill. Repeating a version changes nothing.
   * Throws 409 for a tenant's slug or a version that is not higher.
   */
  function put(call: By, manifest: Record<string, unknown>): Promise<Imported> {
    return store.write(async (tx) => {
      const [slug, version] = [String(manifest.slug), String(manifest.version)]
      const known = await rows.bySlug(tx, slug)
      if (known && known.owner !== 'server') throw slugOfOthers(slug)
      if (known?.version === version) return { id: known.id, slug, version, isNew: false, warnings: [] }
      if (known && !isHigher(version, known.version)) throw notHigher(slug, known.version)
      const reason = call.caller.reason ?? 'Imported by an operator.'
      const examined = examine(manifest)
      const about = await publishAsServer(deps, tx, examined, { slug, version, reason })
      await deps.audit.record(tx, call, { ...about, scope: 'server' })
      tx.afterCommit(() => deps.changed(null))
      const warnings = warningsOf(examined.dropped)
      return { id: (await rows.bySlug(tx, slug))!.id, slug, version, isNew: true, warnings }
    })
  }

  async function find(ref: string): Promise<SkillRow> {
    const row = await rows.byRef(store.read, ref)
    if (!row) throw skillErrors.skillNotFound()
    return row
  }
}

const shown = (row: SkillRow): OperatorSkillEntry => ({ ...presentOutline(row), owner: row.owner, listed: row.listed })

/**
 * Publishes the bundled skills at start, in one transaction. A higher version replaces the stored one. Skips slugs
 * owned by a tenant. Returns the published slugs.
 */
export async function openStarters(deps: SkillDeps): Promise<string[]> {
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
async function publishAsServer(deps: SkillDeps, tx: Tx, examined: Examined, publication: Publication) {
  const { slug, version, reason } = publication
  const { review, evidence } = complete(examined, { slug, version, earlier: [], updating: slug, taken: 'own' })
  if (!examined.manifest || !review.passed) throw reviewFailed(review)
  const now = deps.clock.now()
  const { manifest } = examined
  let skillId = (await rows.bySlug(tx, slug))?.id
  if (!skillId) {
    const skill = newSkill(manifest, { ...OWN, status: 'pending_review' }, now)
    await rows.insert(tx, skill)
    skillId = skill.id
  }
  const submitted = newVersion(skillId, manifest, now)
  await rows.insertVersion(tx, submitted)
  const examination = { tier: review.tier, checks: review.checks, evidence }
  const row = newSubmission(submitted, examination, { ...OWN, status: 'approved', auto_approved: false, reason })
  await submissions.insert(tx, row)
  await activateVersion(deps, tx, row, manifest)
  return {
    action: 'skill.approved',
    entityType: 'submission' as const,
    entityId: row.id,
    input: { metadata: { slug, version } },
  }
}
