import { and, asc, desc, eq, exists, gt, isNull, lt, ne, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { listBy, type PageRequest, pagesBy } from '../kernel/keyset'
import { decodeCursor, type Page, toPage } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Reader, Tx } from '../kernel/store'
import { type ReviewStatus, SkillId, type SubmissionId, type VersionId } from './schema'
import type { SubmissionStatus, Tier } from './schema-skill'
import {
  type SkillRow,
  type SubmissionRow,
  skillInstallations,
  skillReviews,
  skillSubmissions,
  skills,
  skillVersions,
  type VersionRow,
} from './table'

type SubmissionFilter = {
  owner?: OwnerScope
  status?: SubmissionStatus | undefined
  tier?: Tier | undefined
  /** Only submissions that this operator holds a valid claim on at `now` (epoch ms). */
  claimedBy?: { name: string; now: number } | undefined
}

/**
 * Counts of submissions of one tier, status and kind of approval (`auto`). `tookMs` sums the times from submission to
 * the last change. `oldest` is the time of the first submission (epoch ms).
 */
export type Counted = {
  tier: Tier
  status: SubmissionStatus
  auto: boolean
  count: number
  tookMs: number
  oldest: number
}

const submissions = rowsOf(skillSubmissions)
const skillRows = rowsOf(skills)
const versions = rowsOf(skillVersions)

/** Hides submissions of deleted skills: their rows are kept only for the author's rate limit. */
function hasSkill(db: Reader): SQL {
  const skill = db.of(skills)
  return exists(
    db
      .select({ id: skill.id })
      .from(skill)
      .where(eq(skill.id, db.of(skillSubmissions).skill_id)),
  )
}

const newestFirst = pagesBy(skillSubmissions, 'created_at')

/** Rows of submissions. Tenants query by owner. Reviewers and operators see all. */
export const submissionRepository = {
  insert: submissions.insert,

  find: (db: Reader, id: SubmissionId) => submissions.first(db, { id }, () => hasSkill(db)),

  findOwn: (db: Reader, owner: OwnerScope, id: SubmissionId) =>
    submissions.first(db, { id, owner }, () => hasSkill(db)),

  /** Changes a submission only from state `from`, so no transition happens twice. Returns undefined in other states. */
  move: (tx: Tx, id: SubmissionId, from: SubmissionStatus, change: Partial<SubmissionRow>) =>
    submissions.change(tx, { id, status: from }, change),

  pendingOf: (db: Reader, skill_id: SkillId) => submissions.first(db, { skill_id, status: 'pending_review' }),

  ofVersion: (db: Reader, skill_id: SkillId, version_id: VersionId) => submissions.first(db, { skill_id, version_id }),

  /** Whether any version of the skill was ever submitted. */
  any: async (db: Reader, skill_id: SkillId): Promise<boolean> =>
    (await submissions.first(db, { skill_id })) !== undefined,

  /** The version numbers of all submissions. A new version must be higher. Drafts are not counted. */
  async versionNumbers(db: Reader, skillId: SkillId): Promise<string[]> {
    const table = db.of(skillSubmissions)
    const found = db.select({ version: table.manifest_version }).from(table)
    return (await found.where(eq(table.skill_id, skillId))).map(({ version }) => version)
  },

  /** Clears the submissions of a deleted skill. The rows remain for the author's rate limit (docs/api.md 8.2). */
  leaveBehind: (tx: Tx, skill_id: SkillId) =>
    submissions.update(
      tx,
      { skill_id },
      { status: 'withdrawn', reason: null, checks: {}, evidence: [], claimed_by: null },
    ),

  /** Times of an author's submissions since `since` (epoch ms), oldest first, at most `max`. */
  async momentsSince(db: Reader, userId: UserId, since: number, max: number): Promise<number[]> {
    const table = db.of(skillSubmissions)
    const rows = await db
      .select({ at: table.created_at })
      .from(table)
      .where(and(eq(table.author_user_id, userId), gt(table.created_at, since)))
      .orderBy(asc(table.created_at))
      .limit(max)
    return rows.map(({ at }) => at)
  },

  /** Counts tenants' submissions by tier, status and automatic approval, for the statistics. */
  async counts(db: Reader): Promise<Counted[]> {
    const table = db.of(skillSubmissions)
    const rows = await db
      .select({
        tier: table.tier,
        status: table.status,
        auto: table.auto_approved,
        count: sql<number>`count(*)`.mapWith(Number),
        tookMs: sql<number>`sum(${table.updated_at} - ${table.created_at})`.mapWith(Number),
        oldest: sql<number>`min(${table.created_at})`.mapWith(Number),
      })
      .from(table)
      .where(and(ne(table.owner, 'server'), hasSkill(db)))
      .groupBy(table.tier, table.status, table.auto_approved)
    return rows
  },

  list(db: Reader, filter: SubmissionFilter, wanted: PageRequest): Promise<Page<SubmissionRow>> {
    const table = db.of(skillSubmissions)
    return newestFirst(
      db,
      wanted,
      hasSkill(db),
      filter.owner ? eq(table.owner, filter.owner) : undefined,
      filter.status ? eq(table.status, filter.status) : undefined,
      filter.tier ? eq(table.tier, filter.tier) : undefined,
      filter.claimedBy
        ? and(eq(table.claimed_by, filter.claimedBy.name), gt(table.claimed_until, filter.claimedBy.now))
        : undefined,
    )
  },
}

export type SkillNarrowing = {
  status?: ReviewStatus | undefined
  category?: string | undefined
  owner?: OwnerScope | 'server' | undefined
}

/** An expression instead of the column, so that the planner uses the index by owner, which finds fewer rows. */
const ofOwners = (status: SQLWrapper): SQL => sql`${status} || ''`

/** Rows of skills and versions. Callers must check visibility with `rules.maySee`. */
export const skillRepository = {
  find: (db: Reader, id: SkillId) => skillRows.first(db, { id }),
  bySlug: (db: Reader, slug: string) => skillRows.first(db, { slug }),
  /** By id or slug. Undefined for text that is neither, which Postgres may refuse to compare (NUL). */
  byRef: async (db: Reader, ref: string) =>
    SkillId.is(ref)
      ? skillRows.first(db, { id: ref })
      : /^[a-z0-9-]{1,64}$/.test(ref)
        ? skillRows.first(db, { slug: ref })
        : undefined,
  version: (db: Reader, id: VersionId) => versions.first(db, { id }),

  /** Locks the skill's row until the transaction ends, and returns it. Undefined when it does not exist. */
  lock: (tx: Tx, id: SkillId) => skillRows.lock(tx, { id }),

  insert: skillRows.insert,

  update: async (tx: Tx, id: SkillId, change: Partial<SkillRow>): Promise<SkillRow> =>
    (await skillRows.change(tx, { id }, change))!,

  insertVersion: versions.insert,

  updateVersion: (tx: Tx, id: VersionId, change: Partial<VersionRow>) => versions.update(tx, { id }, change),

  /** Marks the active version as superseded. */
  supersede: (tx: Tx, skill_id: SkillId) =>
    versions.update(tx, { skill_id, status: 'active' }, { status: 'superseded' }),

  /** The newest versions, 100 at most, newest first. */
  versions: (db: Reader, skill_id: SkillId, limit = 100): Promise<VersionRow[]> =>
    versions.all(db, { skill_id }, { order: (t) => [desc(t.created_at), desc(t.id)], limit }),

  /** Number of an owner's drafts, counted up to `max`. */
  async draftsOf(db: Reader, owner: OwnerScope, max: number): Promise<number> {
    const table = db.of(skills)
    const drafts = and(eq(table.owner, owner), sql`${ofOwners(table.status)} = 'draft'`)
    const rows = await db.select({ id: table.id }).from(table).where(drafts).limit(max)
    return rows.length
  },

  /** An owner's skills that were never public: private, org-only or never approved. */
  async unpublishedOf(tx: Tx, owner: OwnerScope): Promise<SkillId[]> {
    const table = tx.of(skills)
    const closed = or(ne(table.visibility, 'public'), isNull(table.live_version_id))
    const found = await tx
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.owner, owner), closed))
    return found.map(({ id }) => id)
  },

  /** For operators: all skills, newest first, filtered by status, category and owner. */
  async all(db: Reader, query: SkillNarrowing & PageRequest): Promise<Page<SkillRow>> {
    const { status, category, owner, limit, cursor } = query
    const table = db.of(skills)
    const list = listBy(table.seq)
    const before = decodeCursor(list, cursor)
    const found = db
      .select()
      .from(table)
      .where(
        and(
          status ? sql`${owner ? ofOwners(table.status) : table.status} = ${status}` : undefined,
          category ? eq(table.category, category) : undefined,
          owner ? eq(table.owner, owner) : undefined,
          before ? lt(table.seq, before.at) : undefined,
        ),
      )
    const rows = await found.orderBy(desc(table.seq)).limit(limit + 1)
    return toPage(list, rows, limit, ({ seq, id }) => ({ at: seq, id }))
  },

  /** Deletes the skill with its installations, ratings and versions. Returns the owners who had it installed. */
  async remove(tx: Tx, id: SkillId): Promise<OwnerScope[]> {
    const gone = await rowsOf(skillInstallations).take(tx, { skill_id: id })
    await rowsOf(skillReviews).remove(tx, { skill_id: id })
    await versions.remove(tx, { skill_id: id })
    await submissionRepository.leaveBehind(tx, id)
    await skillRows.remove(tx, { id })
    return gone.map(({ owner }) => owner)
  },

  /** The versions with these ids, in no particular order. */
  withVersions: async (db: Reader, versionIds: readonly VersionId[]): Promise<VersionRow[]> =>
    versionIds.length ? versions.all(db, { id: versionIds }) : [],
}
