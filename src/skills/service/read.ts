import { storeAnswer } from '../../idempotency'
import { type Call, ownerOf } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { invalidInput } from '../../kernel/errors'
import { nextTurn } from '../../kernel/loop'
import { decodeCursor, mapPage, type Page, type PageQuery, toPage } from '../../kernel/page'
import { readPeriod } from '../../kernel/range'
import type { Reader } from '../../kernel/store'
import { storable } from '../../kernel/text'
import { callsWithSkills } from '../../usage'
import { ownSkill, reviewFailed, skillErrors } from '../errors'
import type { SkillManifest } from '../manifest'
import { averageOf, detailsOf, presentEntry, presentRating, presentSkill, presentVersion } from '../present'
import { skillRepository as rows } from '../repository'
import { installRepository as installs, trialRepository as trials } from '../repository-installs'
import { examineInTurns, hasPassed } from '../review'
import { isOwn, maySee, runnableVersion, type Viewer } from '../rules'
import { type Activation, composeTrial } from '../runtime'
import {
  type Earnings,
  type EarningsQuery,
  type NewSkillReview,
  type SandboxInput,
  type Skill,
  type SkillDetails,
  type SkillEntry,
  type SkillId,
  type SkillQuery,
  type SkillReview,
  SkillReviewId,
  type SkillVersion,
  type VersionId,
} from '../schema'
import { markOf, searchSkills, wordsOf } from '../search'
import type { ListedRow } from '../table'
import { findVisible, recordSkill, type SkillDeps, viewerOf } from './deps'

/** Number of manifests read per turn of the event loop, because they may be long (docs/promises.md I28). */
const AT_ONCE = 25

/** `GET /skills`: lists the store unless `filter` is given. Throws 400 for an invalid cursor. */
export function listSkills(deps: SkillDeps, call: Call, query: SkillQuery): Promise<Page<SkillEntry>> {
  if (query.filter === 'installed') return installed(deps, call, query)
  return found(deps, call, query)
}

async function found(deps: SkillDeps, { caller }: Call, query: SkillQuery): Promise<Page<SkillEntry>> {
  const { store } = deps
  const { filter, category, q, limit } = query
  const isMine = filter === 'mine'
  const sort = query.sort ?? (isMine ? 'newest' : 'installs')
  const list = `skills.${sort}`
  const wanted = { category, sort, words: q === undefined || q.trim() === '' ? null : wordsOf(q) }
  const before = decodeCursor(list, query.cursor)
  const search = (among: Parameters<typeof searchSkills>[1]) =>
    searchSkills(store.read, among, wanted, before, limit + 1)
  const mark = markOf(sort)
  const viewer = await viewerOf(deps, store.read, caller)
  if (isMine) return present(deps, toPage(list, await search({ owner: ownerOf(caller) }), limit, mark), viewer)
  const { orgIds } = viewer
  const [listed, ofOrgs] = [await search({ listed: true }), orgIds.length ? await search({ orgIds }) : []]
  const merged = [...listed, ...ofOrgs].sort((a, b) => mark(b).at - mark(a).at || b.seq - a.seq)
  return present(deps, toPage(list, merged, limit, mark), viewer)
}

async function present(deps: SkillDeps, page: Page<ListedRow>, viewer: Viewer): Promise<Page<SkillEntry>> {
  const details = await detailsFor(deps, page.items, viewer)
  return { ...page, items: page.items.map((row) => presentEntry(row, details.get(row.id))) }
}

/** Installed skills, including suspended ones. Leaves out skills that the owner may no longer see. */
async function installed(deps: SkillDeps, { caller }: Call, query: SkillQuery): Promise<Page<SkillEntry>> {
  const { store } = deps
  const { category, q } = query
  const viewer = await viewerOf(deps, store.read, caller)
  const words = q === undefined || q.trim() === '' ? [] : wordsOf(q)
  const page = await installs.list(store.read, viewer.owner, query)
  const remaining = page.items
    .filter(({ skill }) => maySee(skill, viewer) || skill.status === 'suspended')
    .filter(({ skill }) => category === undefined || skill.category === category)
    .filter(({ skill }) => words.every((word) => skill.search_text.includes(word)))
  const skills = remaining.map(({ skill }) => skill)
  const details = await detailsFor(deps, skills, viewer)
  const items = remaining.map(({ skill, installation }) => ({
    ...presentEntry(skill, details.get(skill.id)),
    enabled: installation.enabled,
    installedAt: iso(installation.installed_at),
  }))
  return { ...page, items }
}

/** One skill by id or slug. */
export async function getSkill(deps: SkillDeps, { caller }: Call, ref: string): Promise<Skill> {
  const { store } = deps
  const { row, viewer } = await findVisible(deps, store.read, caller, ref)
  const shown = isOwn(row, viewer) ? (row.draft_version_id ?? row.live_version_id) : row.live_version_id
  const version = shown ? await rows.version(store.read, shown) : (await rows.versions(store.read, row.id))[0]
  if (!version) throw skillErrors.skillNotFound()
  return presentSkill(row, version.manifest, viewer)
}

/** Versions that are or were live, newest first. The author also sees withdrawn versions. */
export async function listVersions(deps: SkillDeps, { caller }: Call, ref: string): Promise<SkillVersion[]> {
  const { store } = deps
  const { row, viewer } = await findVisible(deps, store.read, caller, ref)
  const own = isOwn(row, viewer)
  return (await rows.versions(store.read, row.id))
    .map((version) => presentVersion(version, own))
    .filter((version) => version !== null)
    .filter(({ status }) => own || status !== 'withdrawn')
}

/** Reads the details that lists show besides the row. Caches those of live versions, which never change. */
async function detailsFor({ store, details: known }: SkillDeps, listed: readonly ListedRow[], viewer: Viewer) {
  const db = store.read
  const found = new Map<SkillId, SkillDetails>()
  const missing = new Map<VersionId, ListedRow>()
  for (const row of listed) {
    const versionId = await shownOf(db, row, viewer)
    const stored = versionId && !isOwn(row, viewer) ? known.get(versionId) : undefined
    if (stored) found.set(row.id, stored.details)
    else if (versionId) missing.set(versionId, row)
  }
  const ids = [...missing.keys()]
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    if (from > 0) await nextTurn()
    for (const { id, manifest } of await rows.withVersions(db, ids.slice(from, from + AT_ONCE))) {
      const row = missing.get(id)!
      const own = isOwn(row, viewer)
      const details = detailsOf(manifest, own)
      if (!own) known.set(id, { details, chars: JSON.stringify(details).length })
      found.set(row.id, details)
    }
  }
  return found
}

/** The version whose details are shown: the newest one for the owner, else the live one. */
async function shownOf(db: Reader, row: ListedRow, viewer: Viewer): Promise<VersionId | null> {
  if (!isOwn(row, viewer)) return row.live_version_id
  return row.draft_version_id ?? row.live_version_id ?? (await rows.versions(db, row.id, 1))[0]?.id ?? null
}

const DEFAULT_MS = 30 * 24 * 60 * 60_000
const MAX_SKILLS = 1_000

/**
 * `GET /skills/earnings`. Earnings are zero, because skills are free to use. Activations count the calls in which a
 * skill took part.
 */
export async function readEarnings(
  { store, clock }: SkillDeps,
  { caller }: Call,
  query: EarningsQuery,
): Promise<Earnings> {
  const { from, to } = readPeriod(query, clock.now(), DEFAULT_MS)
  const own = { words: null, sort: 'newest' as const }
  const mine = await searchSkills(store.read, { owner: ownerOf(caller) }, own, null, MAX_SKILLS)
  const calls = await callsWithSkills(
    store.read,
    mine.map(({ id }) => id),
    { from, to },
  )
  return {
    period: { from: iso(from), to: iso(to) },
    total_cents: 0,
    by_skill: mine.map(({ id, slug }) => ({
      skillId: id,
      slug,
      activations: calls.get(id) ?? 0,
      earned_cents: 0,
    })),
  }
}

export async function listRatings(
  deps: SkillDeps,
  { caller }: Call,
  ref: string,
  query: PageQuery,
): Promise<Page<SkillReview> & { average: number | null; total: number }> {
  const { store } = deps
  const { row } = await findVisible(deps, store.read, caller, ref)
  const page = mapPage(await installs.ratings(store.read, row.id, query), presentRating)
  return { ...page, average: averageOf(row), total: row.rating_count }
}

/** Rates a skill. Throws 403 `forbidden` for the caller's own skill. */
export function rateSkill(
  deps: SkillDeps,
  call: Call,
  ref: string,
  { rating, body }: NewSkillReview,
): Promise<SkillReview> {
  const { store, clock } = deps
  const { userId: user_id } = call.caller
  return store.write(async (tx) => {
    const { row: skill, viewer } = await findVisible(deps, tx, call.caller, ref)
    if (isOwn(skill, viewer) || skill.author_user_id === user_id) throw ownSkill()
    if (!(await rows.lock(tx, skill.id))) throw skillErrors.skillNotFound()
    const before = await installs.ratingOf(tx, skill.id, user_id)
    const row = {
      id: before?.id ?? SkillReviewId.create(),
      skill_id: skill.id,
      user_id,
      rating,
      body: body == null ? null : storable(body),
      created_at: clock.now(),
    }
    if (before) await installs.replaceRating(tx, row)
    else await installs.insertRating(tx, row)
    await installs.addRating(tx, skill.id, rating - (before?.rating ?? 0), before ? 0 : 1)
    await recordSkill(deps, tx, call, skill, { action: 'skill.reviewed', metadata: { rating } })
    const review = presentRating(row)
    await storeAnswer(tx, call, { review })
    return review
  })
}

/**
 * The activation for a sandbox run of a stored skill or a given manifest. Its tools are only acknowledged. Throws 400
 * unless exactly one of the two is given, 404, and 422 `review_failed` for a manifest that fails its checks.
 */
export async function trialOf(deps: SkillDeps, call: Call, input: SandboxInput): Promise<Activation> {
  const manifest = await manifestOf(deps, call, input)
  const tools = manifest.tools.map(({ endpoint: _, ...tool }) => tool)
  return composeTrial({ ...manifest, tools }, deps.tools.ofSkill, input.prompt)
}

const DAY_MS = 24 * 60 * 60_000

/** Counts one sandbox run of the owner before it starts. Throws 429 `rate_limit_exceeded`. */
export async function claimTrial({ store, clock, settings }: SkillDeps, { caller }: Call): Promise<void> {
  const max = settings.sandboxRunsPerDay
  const now = clock.now()
  const day = Math.floor(now / DAY_MS)
  if (await store.write((tx) => trials.claim(tx, ownerOf(caller), day, max))) return
  const retryAfterS = Math.max(1, Math.ceil(((day + 1) * DAY_MS - now) / 1000))
  throw skillErrors.tooManyTrials.with({ retryAfterS }, max, retryAfterS)
}

async function manifestOf(
  deps: SkillDeps,
  { caller }: Call,
  { skill_id, manifest }: SandboxInput,
): Promise<SkillManifest> {
  if ((skill_id === undefined) === (manifest === undefined)) {
    throw invalidInput('skill_id', 'Send either "skill_id" or "manifest".')
  }
  if (manifest) {
    const examined = await examineInTurns(manifest)
    const passed = hasPassed(examined.checks)
    if (!examined.manifest || !passed) throw reviewFailed({ ...examined, passed })
    return examined.manifest
  }
  const { row, viewer } = await findVisible(deps, deps.store.read, caller, skill_id!)
  const versionId = runnableVersion(row, viewer)
  const version = versionId ? await rows.version(deps.store.read, versionId) : undefined
  if (!version) throw skillErrors.skillNotFound()
  return version.manifest
}
