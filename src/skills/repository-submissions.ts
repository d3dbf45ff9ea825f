import { and, asc, eq, exists, gt, ne, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Reader, Tx } from '../kernel/store'
import type { SkillId, SubmissionId, VersionId } from './schema'
import type { SubmissionStatus, Tier } from './schema-review'
import { type SubmissionRow, skillSubmissions, skills } from './table'

export type SubmissionFilter = {
  owner?: OwnerScope
  status?: SubmissionStatus | undefined
  tier?: Tier | undefined
  /** Only submissions that this operator holds a valid claim on at `now` (epoch ms). */
  claimedBy?: { name: string; now: number } | undefined
}

/**
 * Submissions of one tier, status and kind of approval (`auto`). `tookMs` sums the times to the last change; `oldest`
 * is the first submission (epoch ms).
 */
export type Counted = {
  tier: Tier
  status: SubmissionStatus
  auto: boolean
  count: number
  tookMs: number
  oldest: number
}

/** Hides submissions of deleted skills: those rows are kept only for their author's rate limit. */
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

/** Rows of submissions. Tenants reach their own by owner; reviewers and operators reach all. */
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
    const own = and(eq(table.id, id), eq(table.owner, owner), hasSkill(db))
    return (await db.select().from(table).where(own).limit(1))[0]
  },

  /** Changes a submission only from state `from`, so no transition happens twice; undefined in any other state. */
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

  /** All submitted version numbers; a new one must be higher. Drafts are not counted. */
  async versionNumbers(db: Reader, skillId: SkillId): Promise<string[]> {
    const table = db.of(skillSubmissions)
    const found = db.select({ version: table.manifest_version }).from(table)
    return (await found.where(eq(table.skill_id, skillId))).map(({ version }) => version)
  },

  /** Clears the submissions of a deleted skill. The rows stay for their author's rate limit (contract 8.2). */
  async leaveBehind(tx: Tx, skillId: SkillId): Promise<void> {
    const table = tx.of(skillSubmissions)
    const left = { status: 'withdrawn' as const, reason: null, checks: {}, evidence: [], claimed_by: null }
    await tx.update(table).set(left).where(eq(table.skill_id, skillId))
  },

  /** Times of an author's submissions since `since` (epoch ms), oldest first, at most `most`. */
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

  list(db: Reader, filter: SubmissionFilter, wanted: Wanted): Promise<Page<SubmissionRow>> {
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
