/** The record: every state change and paid call, append-only, one SHA-256 chain per owner. */
export { type AuditLog, createAuditLog } from './service'
