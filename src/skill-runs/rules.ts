import { centsToMicro } from '../kernel/money'

/** Limits of one owner's hook runs, for a day and for one run (contract 8.1). Costs are in micro-cents. */
export const LIMITS = {
  runsADay: 50,
  costADay: centsToMicro(500),
  costARun: centsToMicro(50),
  toolCallsARun: 10,
} as const

/** The day's runs and their cost; a run in progress counts with the most it may cost. */
export type Spent = { runs: number; costMicro: number }

export const isOverLimit = ({ runs, costMicro }: Spent): boolean =>
  runs >= LIMITS.runsADay || costMicro + LIMITS.costARun > LIMITS.costADay

const DAY_MS = 24 * 60 * 60_000

/** Days begin at 00:00 UTC, as for spending caps (contract 1.9). */
export const startOfDay = (now: number): number => now - (now % DAY_MS)
