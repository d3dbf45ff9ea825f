/** Billing: wallets, holds before work, a double-entry ledger after it, caps and prices. */

export { billingSettings } from './config'
export { refAlreadyUsed, toolsUnpaid } from './errors'
export { expiredCredit } from './expiring-grants'
export { capsOfDay, chargeOf, createAccountLimits, hasCaps } from './limits'
export { createBalanceWatch } from './low-balance'
export { type AccountBilling, createAccountBilling } from './payments'
export { type Consumption, createPrices, followPrices, type Prices } from './prices'
export { heldUnder, jobHolds } from './repository'
export { type Billing, createBilling, releaseAbandonedBatch, startHoldRecovery } from './service'
export { oldCallsTrimmed } from './trim'
export type { Difference } from './verify'
export { listLedger } from './verify-queries'
