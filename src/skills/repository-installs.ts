import { and, asc, desc, eq, gt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { type PageRequest, pagesBy, sliceBy } from '../kernel/keyset'
import { type Page, toPage } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
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

const installations = rowsOf(skillInstallations)
const reviews = rowsOf(skillReviews)
const skillRows = rowsOf(skills)

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

  find: (db: Reader, owner: OwnerScope, skill_id: SkillId) => installations.first(db, { owner, skill_id }),

  /** Finds an installation by its own id and locks it until the transaction commits. */
  lock: (tx: Tx, owner: OwnerScope, id: InstallationId) => installations.lock(tx, { id, owner }),

  /** Installations of a skill by all owners, by id, after the id `after`. Used to apply a new version to them. */
  ofSkill: (db: Reader, skill_id: SkillId, after: InstallationId | null, limit: number): Promise<InstallationRow[]> =>
    installations.all(
      db,
      { skill_id },
      { also: (t) => (after === null ? undefined : gt(t.id, after)), order: (t) => [asc(t.id)], limit },
    ),

  /** False when the owner has already installed the skill. */
  insert: installations.add,

  update: (tx: Tx, owner: OwnerScope, skill_id: SkillId, change: Partial<InstallationRow>) =>
    installations.change(tx, { owner, skill_id }, change),

  /** Returns the deleted row, or undefined when the skill was not installed. */
  remove: async (tx: Tx, owner: OwnerScope, skill_id: SkillId): Promise<InstallationRow | undefined> =>
    (await installations.take(tx, { owner, skill_id }))[0],

  /** Returns the removed installations. */
  removeAll: (tx: Tx, owner: OwnerScope) => installations.take(tx, { owner }),

  /** Changes the install count. False when the skill no longer exists. */
  async countInstalls(tx: Tx, id: SkillId, by: 1 | -1): Promise<boolean> {
    const install_count = sql`${tx.of(skills).install_count} + ${by}`
    return (await skillRows.update(tx, { id }, { install_count })) === 1
  },

  ratingOf: (db: Reader, skill_id: SkillId, user_id: UserId) => reviews.first(db, { skill_id, user_id }),

  insertRating: reviews.insert,

  replaceRating: (tx: Tx, { id, rating, body, created_at }: SkillReviewRow) =>
    reviews.update(tx, { id }, { rating, body, created_at }),

  /** Adds a change of `stars` and `people` to the skill's rating totals, which lists sort by. */
  async addRating(tx: Tx, id: SkillId, stars: number, people: number): Promise<void> {
    const table = tx.of(skills)
    const [rating_sum, rating_count] = [sql`${table.rating_sum} + ${stars}`, sql`${table.rating_count} + ${people}`]
    const rating = sql`((${rating_sum}) * 100) / (${rating_count})`
    await skillRows.update(tx, { id }, { rating_sum, rating_count, rating })
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

  forget: (tx: Tx, owner: OwnerScope) => rowsOf(skillTrials).remove(tx, { owner }),
}
