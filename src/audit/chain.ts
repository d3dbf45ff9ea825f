import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { AuditEvent } from './schema'
import type { AuditEventRow } from './table'

/** `prev_hash` of the first event of a chain. */
export const GENESIS = '0'.repeat(64)

type HashedFields = Omit<AuditEventRow, 'hash' | 'scope' | 'seq' | 'mode' | 'status'>

/**
 * The event without `hash` as canonical JSON (RFC 8785), with the summaries inserted as the canonical text they are
 * stored as. Written by hand because it runs once per request; a test compares it with the `canonicalize` package.
 */
export const canonicalEvent = (row: HashedFields): string =>
  `{"action":${text(row.action)},"apiKeyId":${text(row.api_key_id)},"entityId":${text(row.entity_id)},` +
  `"entityType":${text(row.entity_type)},"id":${text(row.id)},"inputSummary":${row.input},` +
  `"orgId":${text(row.org_id)},"outputSummary":${row.output},"prevHash":${text(row.prev_hash)},` +
  `"requestId":${text(row.request_id)},"timestamp":${text(iso(row.at))},"userId":${text(row.user_id)}}`

const text = (value: string | null): string => JSON.stringify(value)

/** `SHA-256(prevHash + canonical JSON of the event without hash)`, in hex (contract 19). */
export const hashOf = (row: HashedFields): string => sha256Hex(row.prev_hash + canonicalEvent(row))

/** The one place where a stored row is turned into a public event. */
export const present = (row: AuditEventRow): AuditEvent => ({
  id: row.id,
  action: row.action,
  entityType: row.entity_type,
  entityId: row.entity_id,
  userId: row.user_id,
  timestamp: iso(row.at),
  inputSummary: JSON.parse(row.input),
  outputSummary: JSON.parse(row.output),
  orgId: row.org_id,
  apiKeyId: row.api_key_id,
  requestId: row.request_id,
  prevHash: row.prev_hash,
  hash: row.hash,
})
