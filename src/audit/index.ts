/** Audit: every state change and paid call, append-only, in one SHA-256 hash chain per owner. */
export { createCheckpointBook } from './checkpoint-book'
export { createCheckpoints, startCheckpointLoop } from './checkpoints'
export { EXPORT_HEADERS } from './export'
export { newestEvents } from './list'
export { type AuditReading, createAuditReading } from './reading'
export { hasRecord } from './repository'
export { type AuditLog, createAuditLog, type InsertEvent, verifyChains } from './service'
export type { AuditEventRow } from './table'
