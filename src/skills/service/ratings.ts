import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { mapPage, type Page, type PageQuery } from '../../kernel/page'
import { storable } from '../../kernel/text'
import { ownSkill, skillNotFound } from '../errors'
import { averageOf, presentRating } from '../present'
import { skillRepository as rows } from '../repository'
import { installRepository as ratings } from '../repository-installs'
import { isOwn } from '../rules'
import { type NewSkillReview, type SkillReview, SkillReviewId } from '../schema'
import { recordSkill, type SkillDeps, seen } from './deps'

export type RatingPage = Page<SkillReview> & { average: number | null; total: number }

/** Ratings of skills: one per user, a new one replaces the old. */
export function createRatings(deps: SkillDeps) {
  const { store, clock } = deps
  return { list, rate }

  async function list({ caller }: Call, ref: string, query: PageQuery): Promise<RatingPage> {
    const { row } = await seen(deps, store.read, caller, ref)
    const page = mapPage(await ratings.ratings(store.read, row.id, query), presentRating)
    return { ...page, average: averageOf(row), total: row.rating_count }
  }

  /** Rates a skill. Throws 403 `forbidden` for the caller's own skill. */
  function rate(call: Call, ref: string, { rating, body }: NewSkillReview): Promise<SkillReview> {
    const { userId: user_id } = call.caller
    return store.write(async (tx) => {
      const { row: skill, viewer } = await seen(deps, tx, call.caller, ref)
      if (isOwn(skill, viewer) || skill.author_user_id === user_id) throw ownSkill()
      if (!(await rows.lock(tx, skill.id))) throw skillNotFound()
      const before = await ratings.ratingOf(tx, skill.id, user_id)
      const row = {
        id: before?.id ?? SkillReviewId.create(),
        skill_id: skill.id,
        user_id,
        rating,
        body: body == null ? null : storable(body),
        created_at: clock.now(),
      }
      if (before) await ratings.replaceRating(tx, row)
      else await ratings.insertRating(tx, row)
      await ratings.addRating(tx, skill.id, rating - (before?.rating ?? 0), before ? 0 : 1)
      await recordSkill(deps, tx, call, skill, { action: 'skill.reviewed', metadata: { rating } })
      const review = presentRating(row)
      await storeAnswer(tx, call, { review })
      return review
    })
  }
}
