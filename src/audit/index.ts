/** Audit: records every state change and paid call, append-only, in one SHA-256 hash chain per owner. */

export { splitRoute } from './chain'
export { createCheckpointBook } from './checkpoint-book'
export { createCheckpoints, startCheckpointLoop } from './checkpoints'
export { type ArchiveDeps, archiveEvents, EXPORT_HEADERS } from './export'
export { lastBefore, newestEvents } from './list'
export { type AuditReading, createAuditReading } from './reading'
export { baseOf, hasRecord, pageOfHeads } from './repository'
export { type AuditLog, type CallEntry, createAuditLog, verifyChains } from './service'
export type { AuditEventRow } from './table'
