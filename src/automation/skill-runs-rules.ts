import { centsToMicro } from '../kernel/money'

/** Limits of runs that nobody asked for, of one owner's day and of each (contract 8.1). Costs are in micro-cents. */
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

/** So many failures in a row pause a hook or an installation (contract 8.1, 11.1). */
export const MAX_FAILURES = 5

/** How much of an answer and of an event's data is kept and read, in characters. */
export const MAX_OUTPUT = 20_000
export const MAX_DATA = 32_000

/** How long ended runs are kept, as jobs are (contract 7). */
export const STORED_MS = 30 * DAY_MS
