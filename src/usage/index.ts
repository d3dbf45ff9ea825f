/** Usage: one row per call, the daily spend of each key, and reports of both. */

export { createBenchmarks } from './benchmarks'
export { costOfDay, usageOfEveryone } from './everyone'
export { EXPORT_HEADERS } from './export'
export { peakOf } from './peak'
export { createUsageReading, spendOfOwner, startOwnerSpend, type UsageReading } from './reading'
export { startRefusalLoop } from './refusal-loop'
export { type ModeOfCall, modeOfCall } from './resolved'
export { callsWithSkills, createRollup, startRollupLoop } from './rollup-loop'
export { createUsageLog, type UsageEntry, type UsageLog } from './service'
export { holdSpend, type Spend, settleSpend, spendOf } from './spend'
