/** Every table, as SQLite sees it: what drizzle-kit reads to make `drizzle/sqlite/*.sql`. */
import * as audit from '../../src/audit/table'
import * as billing from '../../src/billing/table'
import * as usage from '../../src/usage/table'

export const auditEvents = audit.auditEvents.sqlite
export const auditHeads = audit.auditHeads.sqlite
export const usageRecords = usage.usageRecords.sqlite
export const spendDays = usage.spendDays.sqlite
export const wallets = billing.wallets.sqlite
export const holds = billing.holds.sqlite
export const ledgerEntries = billing.ledgerEntries.sqlite
