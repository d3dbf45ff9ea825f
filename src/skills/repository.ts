import {
  and,
  asc,
  desc,
  eq,
  exists,
  gt,
  inArray,
  isNull,
  lt,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { listBy, type PageRequest, pagesBy } from '../kernel/keyset'
import { decodeCursor, type Page, toPage } from '../kernel/page'
import { counted, query, type Reader, type Tx } from '../kernel/store'
import type { ReviewStatus, SkillId, SubmissionId, VersionId } from './schema'
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
  async insert(tx: Tx, row: SubmissionRow): Promise<void> {
    await tx.insert(tx.of(skillSubmissions)).values(row)
  },

  async find(db: Reader, id: SubmissionId): Promise<SubmissionRow | undefined> {
    const table = db.of(skillSubmissions)
    const there = and(eq(table.id, id), hasSkill(db))
    return (await db.select().from(table).where(there).limit(1))[0]
  },

  async findOwn(db: Reader, owner: OwnerScope, id: SubmissionId): Promise<SubmissionRow | undefined> {
    const table = db.of(skillSubmissions)
    const ownerFilter = and(eq(table.id, id), eq(table.owner, owner), hasSkill(db))
    return (await db.select().from(table).where(ownerFilter).limit(1))[0]
  },

  /** Changes a submission only from state `from`, so no transition happens twice. Returns undefined in other states. */
  async move(
    tx: Tx,
    id: SubmissionId,
    from: SubmissionStatus,
    change: Partial<SubmissionRow>,
  ): Promise<SubmissionRow | undefined> {
    const table = tx.of(skillSubmissions)
    const there = and(eq(table.id, id), eq(table.status, from))
    return (await tx.update(table).set(change).where(there).returning())[0]
  },

  async pendingOf(db: Reader, skillId: SkillId): Promise<SubmissionRow | undefined> {
    const table = db.of(skillSubmissions)
    const pending = and(eq(table.skill_id, skillId), eq(table.status, 'pending_review'))
    return (await db.select().from(table).where(pending).limit(1))[0]
  },

  async ofVersion(db: Reader, skillId: SkillId, versionId: VersionId): Promise<SubmissionRow | undefined> {
    const table = db.of(skillSubmissions)
    const same = and(eq(table.skill_id, skillId), eq(table.version_id, versionId))
    return (await db.select().from(table).where(same).limit(1))[0]
  },

  /** Whether any version of the skill was ever submitted. */
  async any(db: Reader, skillId: SkillId): Promise<boolean> {
    const table = db.of(skillSubmissions)
    return (await db.select({ id: table.id }).from(table).where(eq(table.skill_id, skillId)).limit(1)).length > 0
  },

  /** The version numbers of all submissions. A new version must be higher. Drafts are not counted. */
  async versionNumbers(db: Reader, skillId: SkillId): Promise<string[]> {
    const table = db.of(skillSubmissions)
    const found = db.select({ version: table.manifest_version }).from(table)
    return (await found.where(eq(table.skill_id, skillId))).map(({ version }) => version)
  },

  /** Clears the submissions of a deleted skill. The rows remain for the author's rate limit (docs/api.md 8.2). */
  async leaveBehind(tx: Tx, skillId: SkillId): Promise<void> {
    const table = tx.of(skillSubmissions)
    const left = { status: 'withdrawn' as const, reason: null, checks: {}, evidence: [], claimed_by: null }
    await tx.update(table).set(left).where(eq(table.skill_id, skillId))
  },

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

const byId = query<{ id: SkillId }>()((db, p) => {
  const table = db.of(skills)
  return db.select().from(table).where(eq(table.id, p.id)).limit(1)
})

const bySlug = query<{ slug: string }>()((db, p) => {
  const table = db.of(skills)
  return db.select().from(table).where(eq(table.slug, p.slug)).limit(1)
})

const versionById = query<{ id: VersionId }>()((db, p) => {
  const table = db.of(skillVersions)
  return db.select().from(table).where(eq(table.id, p.id)).limit(1)
})

const lockSkill = counted<{ id: SkillId }>()((tx, p) => {
  const table = tx.of(skills)
  return tx
    .update(table)
    .set({ id: p.id as never })
    .where(eq(table.id, p.id))
})

export type SkillNarrowing = {
  status?: ReviewStatus | undefined
  category?: string | undefined
  owner?: OwnerScope | 'server' | undefined
}

/** An expression instead of the column, so that the planner uses the index by owner, which finds fewer rows. */
const ofOwners = (status: SQLWrapper): SQL => sql`${status} || ''`

/** Rows of skills and versions. Callers must check visibility with `rules.maySee`. */
export const skillRepository = {
  find: async (db: Reader, id: SkillId): Promise<SkillRow | undefined> => (await byId(db, { id }))[0],
  bySlug: async (db: Reader, slug: string): Promise<SkillRow | undefined> => (await bySlug(db, { slug }))[0],
  version: async (db: Reader, id: VersionId): Promise<VersionRow | undefined> => (await versionById(db, { id }))[0],

  /** Locks the skill's row until the transaction ends. Returns 0 when it does not exist. */
  lock: (tx: Tx, id: SkillId): Promise<number> => lockSkill(tx, { id }),

  async insert(tx: Tx, row: Omit<SkillRow, 'seq'>): Promise<void> {
    await tx.insert(tx.of(skills)).values(row as SkillRow)
  },

  async update(tx: Tx, id: SkillId, change: Partial<SkillRow>): Promise<SkillRow> {
    const table = tx.of(skills)
    const [row] = await tx.update(table).set(change).where(eq(table.id, id)).returning()
    return row!
  },

  async insertVersion(tx: Tx, row: VersionRow): Promise<void> {
    await tx.insert(tx.of(skillVersions)).values(row)
  },

  async updateVersion(tx: Tx, id: VersionId, change: Partial<VersionRow>): Promise<void> {
    const table = tx.of(skillVersions)
    await tx.update(table).set(change).where(eq(table.id, id))
  },

  /** Marks the active version as superseded. */
  async supersede(tx: Tx, skillId: SkillId): Promise<void> {
    const table = tx.of(skillVersions)
    const active = and(eq(table.skill_id, skillId), eq(table.status, 'active'))
    await tx.update(table).set({ status: 'superseded' }).where(active)
  },

  /** The newest 100 versions, newest first. */
  async versions(db: Reader, skillId: SkillId): Promise<VersionRow[]> {
    const table = db.of(skillVersions)
    const rows = db.select().from(table).where(eq(table.skill_id, skillId))
    return rows.orderBy(desc(table.created_at), desc(table.id)).limit(100)
  },

  async newestVersion(db: Reader, skillId: SkillId): Promise<VersionRow | undefined> {
    const table = db.of(skillVersions)
    const rows = db.select().from(table).where(eq(table.skill_id, skillId))
    return (await rows.orderBy(desc(table.created_at), desc(table.id)).limit(1))[0]
  },

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
    const installs = tx.of(skillInstallations)
    const gone = await tx.delete(installs).where(eq(installs.skill_id, id)).returning({ owner: installs.owner })
    for (const table of [skillReviews, skillVersions] as const) {
      const one = tx.of(table as typeof skillReviews)
      await tx.delete(one).where(eq(one.skill_id, id))
    }
    await submissionRepository.leaveBehind(tx, id)
    await tx.delete(tx.of(skills)).where(eq(tx.of(skills).id, id))
    return gone.map(({ owner }) => owner)
  },

  /** The versions with these ids, in no particular order. */
  async withVersions(db: Reader, versionIds: readonly VersionId[]): Promise<VersionRow[]> {
    if (!versionIds.length) return []
    const table = db.of(skillVersions)
    return db
      .select()
      .from(table)
      .where(inArray(table.id, [...versionIds]))
  },
}
