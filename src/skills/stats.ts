import type { Counted } from './repository-submissions'
import type { SubmissionStats } from './schema-operator'
import { REVIEW_TIERS, type Tier } from './schema-review'

/** Statistics per tier: how many wait and since when, how many were decided and how fast. */
export const statsOf = (counted: readonly Counted[], now: number): SubmissionStats => ({
  tiers: REVIEW_TIERS.map((tier) => ofTier(counted, tier, now)),
})

function ofTier(counted: readonly Counted[], tier: Tier, now: number): SubmissionStats['tiers'][number] {
  const mine = counted.filter((one) => one.tier === tier)
  const sum = (of: (one: Counted) => boolean) => mine.filter(of).reduce((total, { count }) => total + count, 0)
  const waiting = mine.filter(({ status }) => status === 'pending_review')
  const byPeople = mine.filter(({ status, auto }) => !auto && (status === 'approved' || status === 'rejected'))
  const decided = byPeople.reduce((total, { count }) => total + count, 0)
  const oldest = Math.min(...waiting.map((one) => one.oldest))
  return {
    tier,
    waiting: sum(({ status }) => status === 'pending_review'),
    approved: sum(({ status, auto }) => status === 'approved' && !auto),
    auto_approved: sum(({ status, auto }) => status === 'approved' && auto),
    rejected: sum(({ status }) => status === 'rejected'),
    withdrawn: sum(({ status }) => status === 'withdrawn'),
    suspended: sum(({ status }) => status === 'suspended'),
    oldest_waiting_s: waiting.length ? Math.max(0, Math.round((now - oldest) / 1000)) : null,
    decided_in_s: decided
      ? Math.round(byPeople.reduce((total, { tookMs }) => total + tookMs, 0) / decided / 1000)
      : null,
  }
}
