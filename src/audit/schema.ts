import type { OwnerScope } from '../kernel/caller'
import { RECORDED_MODES } from '../kernel/caller'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { JsonObject, namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const AuditEventId = defineId('audit_event')
export type AuditEventId = Id<'audit_event'>

/** The types of entities that events refer to (docs/api.md 19). */
const ENTITY_TYPES = [
  'completion',
  'response',
  'skill',
  'api_key',
  'image',
  'video',
  'code',
  'document',
  'audio',
  'job',
  'submission',
  'canvas',
  'workflow',
  'workflow_run',
  'hook',
  'event',
  'guardrail_policy',
  'moderation',
  'embedding',
  'routing_preference',
  'routing_correction',
  'saved_view',
  'test_case',
  'webhook',
  'iframe',
  'widget_session',
  'browser_session',
  'conversation',
  'memory',
  'artifact',
  'file',
  'batch',
  'settings',
  'organization',
  'billing',
  'rate_limit',
  'user',
  'engine',
  'operator',
] as const
/** One chain per owner. Events that belong to no tenant (engines, server settings) go to the server's chain. */
export type ChainScope = OwnerScope | 'server'

/** The request without its text: of a prompt only SHA-256 and length are stored (docs/api.md 19). */
export type InputSummary = {
  mode?: string
  prompt_sha256?: string
  prompt_length?: number
  skills?: readonly string[]
  metadata?: Readonly<Record<string, unknown>> | null
  /** Names of the fields that a change set. Never their values. */
  fields?: readonly string[]
}

/** The outcome (docs/api.md 19). */
export type OutputSummary = {
  /** HTTP status of the response. */
  status?: number
  /** The service's own engine id, never a vendor's name. */
  engine?: string
  cost_cents?: number
  tools_used?: readonly string[]
  fallback_used?: boolean
  error_code?: string | null
  /** Rules of a guardrail policy that fired. The finding is described, never quoted. */
  guardrails?: readonly object[]
  guardrail_policy_id?: string
  conversation_id?: string
  /** How the mode of a call was chosen. Names the kind of signal, never the prompt. */
  routing?: object
  /** Routing rules that were skipped, and why (docs/attacks.md K16). */
  routing_warnings?: readonly string[]
  /** The last archived event of a chain, and the archive files. */
  trimmed?: Trimmed
}

export type AuditEntry = {
  /** `noun.verb`, one of the actions of docs/api.md 19. */
  action: string
  entityType: (typeof ENTITY_TYPES)[number]
  entityId: string | null
  /** The chain to write to. Defaults to the caller's own. */
  scope?: ChainScope
  input?: InputSummary
  output?: OutputSummary
}

/** The action of the event that records how far a chain was archived. */
export const TRIMMED = 'audit.trimmed'

export type Trimmed = { chain: ChainScope; seq: number; hash: string; files: { name: string; sha256: string }[] }

export const AuditEvent = t.Object({
  id: AuditEventId.schema,
  action: t.String(),
  entityType: t.String(),
  entityId: nullable(t.String()),
  userId: nullable(t.String()),
  timestamp: Timestamp,
  inputSummary: JsonObject,
  outputSummary: JsonObject,
  orgId: nullable(t.String()),
  apiKeyId: nullable(t.String()),
  requestId: t.String(),
  prevHash: t.String({ description: 'Hash of the event before this one in the same chain; 64 zeros for the first' }),
  hash: t.String({ description: 'SHA-256 of prevHash and the canonical JSON of this event without `hash`' }),
})
export type AuditEvent = Static<typeof AuditEvent>

export const AuditQuery = t.Object({
  ...RangeQuery.properties,
  key_id: t.Optional(t.String({ maxLength: 64 })),
  mode: t.Optional(oneOf<readonly string[]>(RECORDED_MODES)),
  status: t.Optional(t.Integer({ minimum: 100, maximum: 599, description: 'HTTP status of the recorded answer' })),
  action: t.Optional(
    t.String({ maxLength: 64, description: 'An action such as `key.created`, or a family of actions such as `key.*`' }),
  ),
  entity_type: t.Optional(oneOf<readonly string[]>(ENTITY_TYPES)),
  entity_id: t.Optional(t.String({ maxLength: 128 })),
  request_id: t.Optional(t.String({ maxLength: 64 })),
  id: t.Optional(
    t.String({ maxLength: 64, description: 'Id of a single event, or at least its first six characters' }),
  ),
  actor: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 128,
      description: 'Who did it: id of a user or a key, or the name of an operator',
    }),
  ),
  ...PageQuery.properties,
})
export type AuditQuery = Static<typeof AuditQuery>

/** The list's filters without paging, because an export is not paged. */
const { limit: _limit, cursor: _cursor, ...filters } = AuditQuery.properties
export const AuditFilters = t.Object(filters)
export type AuditFilters = Static<typeof AuditFilters>

/** Which chain a tenant reads. */
export const RecordScope = t.Object({
  scope: t.Optional(
    oneOf(['user', 'org'] as const, {
      description:
        "`user`: your own events; `org`: those of the active organization, with the permission `viewAudit`. Default: the organization's for an organization's key, else your own",
    }),
  ),
})
export type RecordScope = Static<typeof RecordScope>['scope']

const scopeQuery = RecordScope.properties
export const OwnAuditQuery = t.Object({ ...AuditQuery.properties, ...scopeQuery })
/** CSV as in docs/api.md 19. `jsonl` contains the events themselves, one per line. */
const format = { format: oneOf(['csv', 'jsonl'] as const, { default: 'csv' }) }
export const AuditExport = t.Object({ ...AuditFilters.properties, ...format })
export type AuditExport = Static<typeof AuditExport>
export const OwnAuditExport = t.Object({ ...AuditExport.properties, ...scopeQuery })
export const OwnRange = t.Object({ ...RangeQuery.properties, ...scopeQuery })

/** A signed statement that a chain had this `seq` and `hash` at a time (docs/api.md 19). */
export const Checkpoint = namedObject('AuditCheckpoint', {
  object: t.Literal('audit_checkpoint'),
  scope: t.String({ description: 'Owner of the chain: `org:ID` or `user:ID`' }),
  seq: t.Integer({ minimum: 0, description: 'Number of events in the chain when the checkpoint was signed' }),
  hash: t.String({
    pattern: form('^[0-9a-f]{64}$', '64 lower-case hexadecimal digits'),
    description: 'Hash of the last of these events; 64 zeros if there were none',
  }),
  signed_at: Timestamp,
  public_key: t.String({ description: 'Ed25519, its 32 bytes in base64url' }),
  signature: t.String({
    description:
      'Ed25519, base64url, over the canonical JSON (RFC 8785) of `hash, object, public_key, scope, seq, signed_at`',
  }),
})
export type Checkpoint = Static<typeof Checkpoint>

/** A signed statement that this server wrote a file with this hash as an export of a chain. */
export const ExportSignature = t.Object({
  object: t.Literal('audit_export_signature'),
  scope: t.String(),
  sha256: t.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the exported file, byte for byte' }),
  bytes: t.Integer({ minimum: 0 }),
  signed_at: Timestamp,
  public_key: t.String({ description: 'Ed25519, its 32 bytes in base64url' }),
  signature: t.String({
    description: 'Ed25519, base64url, over the canonical JSON of `bytes, object, public_key, scope, sha256, signed_at`',
  }),
})
export type ExportSignature = Static<typeof ExportSignature>

/** Result of recomputing a chain, or the part of it between two dates. */
export const Integrity = t.Object({
  valid: t.Boolean(),
  algorithm: t.Literal('sha256'),
  events_checked: t.Integer(),
  first_event_id: nullable(t.String()),
  last_event_id: nullable(t.String()),
  head_hash: t.String({ description: 'Hash of the newest event of the whole chain; 64 zeros when there is none' }),
  broken_at: nullable(
    t.String({ description: 'Id of the first event whose hash or link is wrong, or of the last event before a gap' }),
  ),
  checked_at: Timestamp,
})
export type Integrity = Static<typeof Integrity>

/** The head of a chain, for the reader to store outside the server. */
export const AuditHead = t.Object({
  object: t.Literal('audit_head'),
  scope: t.String(),
  seq: t.Integer(),
  hash: t.String(),
  checkpoint: Checkpoint,
})
export type AuditHead = Static<typeof AuditHead>

/** The result of checking one chain, for operators. `neighbours` are the first broken event and the adjacent ones. */
export const ChainCheck = t.Object({
  object: t.Literal('audit_check'),
  scope: t.String(),
  ok: t.Boolean(),
  events_checked: t.Integer(),
  head_seq: t.Integer(),
  head_hash: t.String(),
  checkpoint_seq: nullable(t.Integer()),
  faults: t.Array(t.String()),
  neighbours: t.Array(t.Object({ seq: t.Integer(), event: AuditEvent })),
  checked_at: Timestamp,
})
export type ChainCheck = Static<typeof ChainCheck>
