/** Usage: one row per call, the daily spend of each key, and reports of both. */
export { createBenchmarks, peakOf } from './benchmarks'
export { deleteBodies, expiredBodies, storeBody } from './bodies'
export { costOfDay, EXPORT_HEADERS, usageOfAllOwners } from './export'
export { createUsageReading, spendOfOwner, startOwnerSpend, type UsageReading } from './reading'
export { callsWithSkills, createRollup, startRollupLoop } from './rollup-loop'
export { rolledUpTo } from './rollup-repository'
export {
  createUsageLog,
  holdSpend,
  moveSpends,
  type Spend,
  settleSpend,
  spendOf,
  startRefusalLoop,
  type UsageEntry,
  type UsageLog,
} from './service'
export { type ModeOfCall, modeOfCall } from './spans'
export { usageRecords, usageSkills } from './table'
