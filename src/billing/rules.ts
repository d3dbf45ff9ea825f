import type { Spend } from '../usage'
import { type CapHolder, capReached } from './errors'
import type { Caps } from './schema'

/** A cost that can be booked: a whole number, never negative; NaN counts as zero (G7). */
function wholeCost(cost: number): number {
  if (Number.isNaN(cost)) return 0
  return Math.min(Math.max(Math.round(cost), 0), Number.MAX_SAFE_INTEGER)
}

/** What a hold is charged for a cost: no more than it holds (G8). */
export const chargeOf = ({ amount }: { amount: number }, cost: number): number => Math.min(wholeCost(cost), amount)

export const hasCaps = ({ daily, monthly }: Caps): boolean => daily !== null || monthly !== null

/**
 * Throws 402 when spent, held and `wanted` together exceed a cap (I39). With `wanted` 0 it also throws when the cap is
 * used up exactly.
 */
export function assertWithinCaps(holder: CapHolder, caps: Caps, spend: Spend, wanted: number): void {
  const periods = [
    { period: 'daily', cap: caps.daily, used: spend.today.spent + spend.today.held },
    { period: 'monthly', cap: caps.monthly, used: spend.month.spent + spend.month.held },
  ] as const
  for (const { period, cap, used } of periods) {
    if (cap === null) continue
    if (wanted > 0 ? used + wanted > cap : used >= cap) throw capReached(holder, period, cap, used, wanted)
  }
}

/** Subtracts a spent amount from grants, soonest to expire first. */
export function spendGrants<G extends { remaining: number; expires_at: number }>(
  grants: readonly G[],
  spent: number,
): G[] {
  let left = Math.max(spent, 0)
  return [...grants]
    .sort((a, b) => a.expires_at - b.expires_at)
    .map((grant) => {
      const taken = Math.min(grant.remaining, left)
      left -= taken
      return { ...grant, remaining: grant.remaining - taken }
    })
}

/** Whether a balance fell below a threshold in this step: it was at or above it before. */
export const crossed = (before: number, after: number, threshold: number): boolean =>
  before >= threshold && after < threshold
