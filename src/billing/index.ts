/** Billing: wallets, holds before work, a double-entry ledger after it, caps and prices. */
export { releaseAbandonedBatch, startHoldRecovery } from './abandoned-loop'
export { type AccountLimitsOf, createAccountLimits } from './account-limits'
export { billingSettings } from './config'
export { type LedgerEntry, type LedgerPage, listLedger } from './ledger-list'
export { type BalanceWatch, createBalanceWatch } from './low-balance'
export { type BillingDesk, createBillingDesk } from './payments'
export { type Consumption, createPrices, type Price, type Prices } from './prices'
export { type Billing, createBilling } from './service'
