import { centsToMicro } from '../kernel/money'

/** What skills may do by themselves for one owner in a day, and in one run (contract 8.1). */
export const LIMITS = {
  runsADay: 50,
  costADay: centsToMicro(500),
  costARun: centsToMicro(50),
  toolCallsARun: 10,
} as const

/** What the day has seen: runs that were begun, and what they cost, those still running counted at the most they may. */
export type Spent = { runs: number; costMicro: number }

export const isOverLimit = ({ runs, costMicro }: Spent): boolean =>
  runs >= LIMITS.runsADay || costMicro + LIMITS.costARun > LIMITS.costADay

const DAY_MS = 24 * 60 * 60_000

/** Days turn at 00:00 UTC, as caps do (contract 1.9). */
export const startOfDay = (now: number): number => now - (now % DAY_MS)
