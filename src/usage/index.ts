/** Usage: one row a call, and what each key spent a day. */
export { createUsageLog, type UsageEntry, type UsageLog } from './service'
export { holdSpend, type Spend, settleSpend, spendOf } from './spend'
