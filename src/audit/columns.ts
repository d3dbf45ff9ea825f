import { canonical } from './rules'
import type { AuditEvent } from './schema'

/** The columns of an export, in the order of contract 19. */
export const EXPORT_COLUMNS = [
  'id',
  'timestamp',
  'action',
  'entity_type',
  'entity_id',
  'user_id',
  'org_id',
  'api_key_id',
  'request_id',
  'status',
  'input_summary',
  'output_summary',
  'prev_hash',
  'hash',
] as const

/** The cells of an event in column order; the summaries are the canonical text that was hashed. */
export const cellsOfEvent = (event: AuditEvent): string[] => [
  event.id,
  event.timestamp,
  event.action,
  event.entityType,
  event.entityId ?? '',
  event.userId ?? '',
  event.orgId ?? '',
  event.apiKeyId ?? '',
  event.requestId,
  String((event.outputSummary as { status?: number }).status ?? ''),
  canonical(event.inputSummary),
  canonical(event.outputSummary),
  event.prevHash,
  event.hash,
]
