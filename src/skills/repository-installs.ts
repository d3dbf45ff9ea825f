import { and, asc, desc, eq, gt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { type PageRequest, pagesBy, sliceBy } from '../kernel/keyset'
import { type Page, toPage } from '../kernel/page'
import { query, type Reader, type Tx } from '../kernel/store'
import type { InstallationId, SkillId } from './schema'
import {
  type InstallationRow,
  type SkillReviewRow,
  type SkillRow,
  skillInstallations,
  skillReviews,
  skills,
  skillTrials,
} from './table'

export type InstalledSkill = { installation: InstallationRow; skill: SkillRow }

const installedOf = query<{ owner: OwnerScope; limit: number }>()((db, p) => {
  const [installation, skill] = [db.of(skillInstallations), db.of(skills)]
  return db
    .select({ installation, skill })
    .from(installation)
    .innerJoin(skill, eq(skill.id, installation.skill_id))
    .where(eq(installation.owner, p.owner))
    .orderBy(desc(installation.priority), desc(installation.intensity), installation.installed_at, installation.id)
    .limit(p.limit)
})

const newestRatings = pagesBy(skillReviews, 'created_at')

/** Rows of installations and ratings. Every query names the owner, the user or the skill. */
export const installRepository = {
  /** An owner's installations in loading order: priority, intensity, age (docs/api.md 22.4). */
  all: (db: Reader, owner: OwnerScope, limit: number): Promise<InstalledSkill[]> => installedOf(db, { owner, limit }),

  /** A page of an owner's installations, newest first. */
  async list(db: Reader, owner: OwnerScope, wanted: PageRequest): Promise<Page<InstalledSkill>> {
    const [installation, skill] = [db.of(skillInstallations), db.of(skills)]
    const { list, after, order, limit } = sliceBy(installation.installed_at, installation.id, wanted)
    const found = await db
      .select({ installation, skill })
      .from(installation)
      .innerJoin(skill, eq(skill.id, installation.skill_id))
      .where(and(eq(installation.owner, owner), after))
      .orderBy(...order)
      .limit(limit)
    return toPage(list, found, wanted.limit, ({ installation: { installed_at, id } }) => ({ at: installed_at, id }))
  },

  async find(db: Reader, owner: OwnerScope, skillId: SkillId): Promise<InstallationRow | undefined> {
    const table = db.of(skillInstallations)
    const own = and(eq(table.owner, owner), eq(table.skill_id, skillId))
    return (await db.select().from(table).where(own).limit(1))[0]
  },

  /** Finds an installation by its own id and locks it until the transaction commits. */
  async lock(tx: Tx, owner: OwnerScope, id: InstallationId): Promise<InstallationRow | undefined> {
    const table = tx.of(skillInstallations)
    const ownerFilter = and(eq(table.id, id), eq(table.owner, owner))
    const locked = tx.update(table).set({ priority: sql`${table.priority}` })
    return (await locked.where(ownerFilter).returning())[0]
  },

  /** Installations of a skill by all owners, by id, after the id `after`. Used to apply a new version to them. */
  ofSkill(db: Reader, skillId: SkillId, after: InstallationId | null, limit: number): Promise<InstallationRow[]> {
    const table = db.of(skillInstallations)
    const rest = and(eq(table.skill_id, skillId), after === null ? undefined : gt(table.id, after))
    return db.select().from(table).where(rest).orderBy(asc(table.id)).limit(limit)
  },

  /** False when the owner has already installed the skill. */
  async insert(tx: Tx, row: InstallationRow): Promise<boolean> {
    const table = tx.of(skillInstallations)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  async update(
    tx: Tx,
    owner: OwnerScope,
    skillId: SkillId,
    change: Partial<InstallationRow>,
  ): Promise<InstallationRow | undefined> {
    const table = tx.of(skillInstallations)
    const own = and(eq(table.owner, owner), eq(table.skill_id, skillId))
    return (await tx.update(table).set(change).where(own).returning())[0]
  },

  /** Returns the deleted row, or undefined when the skill was not installed. */
  async remove(tx: Tx, owner: OwnerScope, skillId: SkillId): Promise<InstallationRow | undefined> {
    const table = tx.of(skillInstallations)
    const ownerFilter = and(eq(table.owner, owner), eq(table.skill_id, skillId))
    return (await tx.delete(table).where(ownerFilter).returning())[0]
  },

  /** Returns the removed installations. */
  async removeAll(tx: Tx, owner: OwnerScope): Promise<{ id: InstallationId; skillId: SkillId }[]> {
    const table = tx.of(skillInstallations)
    const gone = await tx
      .delete(table)
      .where(eq(table.owner, owner))
      .returning({ id: table.id, skillId: table.skill_id })
    return gone
  },

  /** Changes the install count. False when the skill no longer exists. */
  async countInstalls(tx: Tx, id: SkillId, by: 1 | -1): Promise<boolean> {
    const table = tx.of(skills)
    const counted = tx.update(table).set({ install_count: sql`${table.install_count} + ${by}` })
    return (await counted.where(eq(table.id, id)).returning({ id: table.id })).length === 1
  },

  async ratingOf(db: Reader, skillId: SkillId, userId: UserId): Promise<SkillReviewRow | undefined> {
    const table = db.of(skillReviews)
    const own = and(eq(table.skill_id, skillId), eq(table.user_id, userId))
    return (await db.select().from(table).where(own).limit(1))[0]
  },

  async insertRating(tx: Tx, row: SkillReviewRow): Promise<void> {
    await tx.insert(tx.of(skillReviews)).values(row)
  },

  async replaceRating(tx: Tx, row: SkillReviewRow): Promise<void> {
    const table = tx.of(skillReviews)
    const { rating, body, created_at } = row
    await tx.update(table).set({ rating, body, created_at }).where(eq(table.id, row.id))
  },

  /** Adds a change of `stars` and `people` to the skill's rating totals, which lists sort by. */
  async addRating(tx: Tx, id: SkillId, stars: number, people: number): Promise<void> {
    const table = tx.of(skills)
    await tx
      .update(table)
      .set({
        rating_sum: sql`${table.rating_sum} + ${stars}`,
        rating_count: sql`${table.rating_count} + ${people}`,
        rating: sql`((${table.rating_sum} + ${stars}) * 100) / (${table.rating_count} + ${people})`,
      })
      .where(eq(table.id, id))
  },

  ratings: (db: Reader, skillId: SkillId, wanted: PageRequest): Promise<Page<SkillReviewRow>> =>
    newestRatings(db, wanted, eq(db.of(skillReviews).skill_id, skillId)),
}

/** Rows that count free sandbox runs. Every query names the owner. */
export const trialRepository = {
  /** Counts one run on a day. Returns false and counts nothing when the day already has `max` runs. */
  async claim(tx: Tx, owner: OwnerScope, day: number, max: number): Promise<boolean> {
    const table = tx.of(skillTrials)
    const claimed = await tx
      .insert(table)
      .values({ owner, day, runs: 1 })
      .onConflictDoUpdate({
        target: table.owner,
        set: { day, runs: sql`case when ${table.day} = excluded.day then ${table.runs} + 1 else 1 end` },
        setWhere: sql`${table.day} <> excluded.day or ${table.runs} < ${max}`,
      })
      .returning({ runs: table.runs })
    return claimed.length > 0
  },

  async forget(tx: Tx, owner: OwnerScope): Promise<void> {
    await tx.delete(tx.of(skillTrials)).where(eq(tx.of(skillTrials).owner, owner))
  },
}
