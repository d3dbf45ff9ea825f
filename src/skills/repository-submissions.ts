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
  /** Claimed by this operator, at this moment (epoch ms). */
  claimedBy?: { name: string; now: number } | undefined
}

/** Submissions of one tier that came to one end; `oldest` is when the first of them came (epoch ms). */
export type Counted = {
  tier: Tier
  status: SubmissionStatus
  auto: boolean
  count: number
  tookMs: number
  oldest: number
}

/** What is left of a deleted skill's submissions only counts towards its author's pace: nobody sees it any more. */
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

/** Rows of submissions. Tenants reach theirs by owner; reviewers and operators any. */
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

  /** The moved row, or undefined when it was in another state by then: no transition happens twice. */
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

  /** Whether a version of the skill was ever submitted, whatever became of it. */
  async any(db: Reader, skillId: SkillId): Promise<boolean> {
    const table = db.of(skillSubmissions)
    return (await db.select({ id: table.id }).from(table).where(eq(table.skill_id, skillId)).limit(1)).length > 0
  },

  /** Every version number that was submitted, for the one that must be higher; a draft of one's own has none yet. */
  async versionNumbers(db: Reader, skillId: SkillId): Promise<string[]> {
    const table = db.of(skillSubmissions)
    const found = db.select({ version: table.manifest_version }).from(table)
    return (await found.where(eq(table.skill_id, skillId))).map(({ version }) => version)
  },

  /** The skill goes: of its submissions stays when they were made, so that deleting buys no new ones (contract 8.2). */
  async leaveBehind(tx: Tx, skillId: SkillId): Promise<void> {
    const table = tx.of(skillSubmissions)
    const left = { status: 'withdrawn' as const, reason: null, checks: {}, evidence: [], claimed_by: null }
    await tx.update(table).set(left).where(eq(table.skill_id, skillId))
  },

  /** When an author submitted since a moment, the oldest first; at most `most`. */
  async momentsSince(db: Reader, userId: UserId, since: number, most: number): Promise<number[]> {
    const table = db.of(skillSubmissions)
    const rows = await db
      .select({ at: table.created_at })
      .from(table)
      .where(and(eq(table.author_user_id, userId), gt(table.created_at, since)))
      .orderBy(asc(table.created_at))
      .limit(most)
    return rows.map(({ at }) => at)
  },

  /** How many there are of each tier and end, and how long those that people decided took (ms). */
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
