import { OwnerQuery, OwnerRef } from '../accounts/orgs/schema'
import { AuditEvent, AuditExport, AuditQuery } from '../audit/schema'
import { LimitsPatch } from '../billing/schema'
import { OPERATOR_ROLES, TIERS } from '../kernel/caller'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { MAX_CENTS } from '../kernel/money'
import { PageQuery } from '../kernel/page'
import { JsonObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Decision, Increase } from '../limits/schema'
import {
  Expiring,
  METADATA_FILTERS,
  RequestQuery,
  SeriesQuery,
  UsageExportQuery,
  UsageQuery,
  UsageReport,
} from '../usage/schema'

export type { StreamEvent, TopicName } from './schema-stream'

/** `owner` may also be `server`: the audit chain of events that belong to no tenant. */
const chain = { owner: t.Optional(OwnerRef) }
export const OperatorAuditQuery = t.Object({ ...AuditQuery.properties, ...chain })
export const OperatorAuditExport = t.Object({ ...AuditExport.properties, ...chain })
export const CheckQuery = t.Object({
  ...chain,
  from_seq: t.Optional(t.Integer({ minimum: 1, description: 'Sequence number to start at; default: the first event' })),
  head: t.Optional(
    t.String({ maxLength: 100, description: 'SEQ:HASH of a head saved elsewhere, to check the chain against' }),
  ),
})
export const AuditPage = t.Object({
  events: t.Array(AuditEvent),
  has_more: t.Boolean(),
  next_cursor: nullable(t.String()),
})
export const ActionCounts = t.Object({ actions: t.Array(t.Object({ action: t.String(), count: t.Integer() })) })

export const Balance = t.Object({
  id: t.String({ description: 'org:ID or user:ID' }),
  object: t.Literal('balance'),
  owner: t.String(),
  balance_cents: t.Number(),
  held_cents: t.Number({ description: 'Cents reserved by running calls' }),
  available_cents: t.Number(),
  expiring: Expiring,
})
export type Balance = Static<typeof Balance>

const IdempotencyKey = t.String({
  pattern: form('^[A-Za-z0-9\\-_.:]{1,200}$', 'at most 200 letters, digits and - _ . :'),
})

/** Credit for an owner, or the completion of an open checkout. */
export const NewGrant = t.Object({
  owner: t.Optional(OwnerRef),
  amount_cents: t.Optional(t.Number({ exclusiveMinimum: 0, maximum: MAX_CENTS })),
  checkout: t.Optional(t.String({ maxLength: 64 })),
  expires_at: t.Optional(nullable({ ...Timestamp, description: 'When the unspent rest expires; default: never' })),
  note: t.Optional(t.String({ maxLength: 500 })),
  idempotency_key: t.Optional(IdempotencyKey),
})
export type NewGrant = Static<typeof NewGrant>

export const Grant = t.Object({
  ...Balance.properties,
  object: t.Literal('credit_grant'),
  amount_cents: t.Number(),
  expires_at: nullable(Timestamp),
  ref: t.String({ description: 'Reference of the grant; the same reference never adds credit twice' }),
  already: t.Boolean({ description: 'true: this reference was granted before and nothing was added' }),
})
export type Grant = Static<typeof Grant>

/** Body of `POST /ops/v1/credits/adjustments`: a signed amount. The balance cannot fall below the held amount. */
export const NewAdjustment = t.Object({
  owner: OwnerRef,
  amount_cents: t.Number({ minimum: -MAX_CENTS, maximum: MAX_CENTS }),
  note: t.Optional(t.String({ maxLength: 500 })),
  idempotency_key: t.Optional(IdempotencyKey),
})
export type NewAdjustment = Static<typeof NewAdjustment>

export const Adjustment = t.Object({
  ...Balance.properties,
  object: t.Literal('credit_adjustment'),
  amount_cents: t.Number(),
  ref: t.String(),
  already: t.Boolean({ description: 'true: this reference was booked before and nothing was changed' }),
})
export type Adjustment = Static<typeof Adjustment>

export const LedgerQuery = t.Object({
  ...PageQuery.properties,
  owner: t.Optional(OwnerRef),
  ref: t.Optional(
    t.String({ minLength: 1, maxLength: 320, description: 'Only rows with this reference or request id' }),
  ),
})
export type LedgerQuery = Static<typeof LedgerQuery>

export const LedgerRow = t.Object({
  id: t.Integer(),
  at: Timestamp,
  kind: t.String(),
  ref: t.String(),
  amount_cents: t.Number(),
  balance_cents: t.Number({ description: 'Balance after this row' }),
  note: nullable(t.String()),
})
export type LedgerRow = Static<typeof LedgerRow>
export const LedgerRows = pageOf('entries', LedgerRow)

/** A wallet that differs from its ledger entries and open holds. */
const WalletDifference = t.Object({
  id: t.String({ description: '`org:ID` or `user:ID`' }),
  balance_cents: nullable(t.Number({ description: 'Balance of the wallet; null if there is none' })),
  ledger_cents: t.Number({ description: 'The sum of its ledger entries' }),
  held_cents: nullable(t.Number()),
  open_cents: t.Number({ description: 'The sum of its open holds' }),
  applied: t.Boolean(),
})
export const Reconciliation = t.Object({
  object: t.Literal('credit_reconciliation'),
  ok: t.Boolean({ description: 'true: no wallet differs from its ledger now' }),
  differences: t.Array(WalletDifference),
})
export type Reconciliation = Static<typeof Reconciliation>

/** Body of `POST /ops/v1/credits/codes`. */
export const NewCode = t.Object({
  amount_cents: t.Integer({ minimum: 500, maximum: 1_000_000 }),
  valid_seconds: t.Optional(t.Integer({ minimum: 60, maximum: 31_536_000 })),
  note: t.Optional(t.String({ maxLength: 500 })),
})
export type NewCode = Static<typeof NewCode>

export const GrantCode = t.Object({
  object: t.Literal('grant_code'),
  code: t.String({ description: 'Shown once; only its hash is kept' }),
  amount_cents: t.Integer(),
  expires_at: Timestamp,
})
export type GrantCode = Static<typeof GrantCode>

/** Body of `PUT /ops/v1/credits/caps`. */
export const NewCaps = t.Object({
  owner: OwnerRef,
  daily_cap_cents: LimitsPatch.properties.daily_cap_cents,
  monthly_cap_cents: LimitsPatch.properties.monthly_cap_cents,
})
export type NewCaps = Static<typeof NewCaps>

const { scope: _report, ...filters } = UsageQuery.properties
const { scope: _export, ...exportFilters } = UsageExportQuery.properties

export const OperatorUsageQuery = t.Object({ ...OwnerQuery.properties, ...filters })
export type OperatorUsageQuery = Static<typeof OperatorUsageQuery>

export const OperatorUsageExportQuery = t.Object({ ...OwnerQuery.properties, ...exportFilters }, METADATA_FILTERS)
export type OperatorUsageExportQuery = Static<typeof OperatorUsageExportQuery>

const { scope: _series, ...seriesFilters } = SeriesQuery.properties

export const OperatorSeriesQuery = t.Object({ ...OwnerQuery.properties, ...seriesFilters }, METADATA_FILTERS)
export type OperatorSeriesQuery = Static<typeof OperatorSeriesQuery>

const { scope: _requests, ...requestFilters } = RequestQuery.properties

export const OperatorRequestQuery = t.Object({ ...OwnerQuery.properties, ...requestFilters }, METADATA_FILTERS)
export type OperatorRequestQuery = Static<typeof OperatorRequestQuery>

export const OperatorUsage = t.Object({
  id: t.String({ description: 'org:ID or user:ID' }),
  object: t.Literal('usage'),
  owner: t.String(),
  ...UsageReport.properties,
})
export type OperatorUsage = Static<typeof OperatorUsage>

const Count = t.Integer({ minimum: 0 })

/** The answer cache of this process, and its hits since the process started. */
export const CacheStats = t.Object({
  object: t.Literal('cache'),
  enabled: t.Boolean(),
  entries: Count,
  bytes: Count,
  max_bytes: Count,
  hits: Count,
  misses: Count,
  hit_rate: t.Number(),
  saved_cents: t.Number(),
  by_mode: t.Array(t.Object({ mode: t.String(), entries: Count, hits: Count })),
})
export type CacheStats = Static<typeof CacheStats>

/** Filters: org or user, key, mode. All given ones must match. */
const choice = { owner: t.Optional(OwnerRef), key: t.Optional(OwnerRef), mode: t.Optional(t.String({ maxLength: 64 })) }

export const CacheQuestion = t.Object({ prompt: t.String({ minLength: 1, maxLength: 1_000_000 }), ...choice })
export type CacheQuestion = Static<typeof CacheQuestion>

const CachedAnswer = t.Object({
  completion_id: t.String(),
  owner: t.String(),
  key_id: nullable(t.String()),
  mode: t.String(),
  model: t.String(),
  hits: Count,
  created: Timestamp,
  expires: Timestamp,
  cost_cents: t.Number(),
})

export const CacheFinding = t.Object({
  object: t.Literal('cache_finding'),
  verdict: oneOf(['hit', 'miss'] as const),
  /** One sentence. */
  why: t.String(),
  answers: t.Array(CachedAnswer),
})
export type CacheFinding = Static<typeof CacheFinding>

const PURGE_SCOPES = ['org', 'key', 'mode', 'all'] as const
/** `name` is the org or user, key or mode. Not used with `all`. */
export const CachePurge = t.Object({ scope: oneOf(PURGE_SCOPES), name: t.Optional(OwnerRef) })
export type CachePurge = Static<typeof CachePurge>

export const CachePurged = t.Object({ object: t.Literal('cache_purge'), purged: Count })
export type CachePurged = Static<typeof CachePurged>

export const Node = t.Object({
  id: t.String(),
  object: t.Literal('node'),
  status: oneOf(['serving', 'draining', 'empty'] as const),
  roles: t.Array(t.String()),
  version: nullable(t.String()),
  host: nullable(t.String()),
  pid: nullable(t.Integer()),
  address: nullable(t.String({ description: 'Where its API listens; null without the role api' })),
  load: nullable(t.Number({ description: 'Load of its machine over one minute' })),
  lag_ms: nullable(t.Number({ description: 'How late its event loop was' })),
  connections: nullable(t.Integer({ description: 'Open requests, streams and upgraded connections' })),
  jobs: nullable(t.Integer({ description: 'Jobs that it runs' })),
  clock_ahead_ms: nullable(t.Integer()),
  since: nullable(Timestamp),
  drain_at: nullable(Timestamp),
})
export type Node = Static<typeof Node>
export const NodeList = t.Object({ nodes: t.Array(Node) })

/** The consistency checks of the store and their results (docs/promises.md I6, I8, I20). */
export const Verification = t.Object({
  object: t.Literal('verification'),
  ok: t.Boolean(),
  checked_at: Timestamp,
  checks: t.Array(t.Object({ check: t.String(), violations: t.Array(t.String()), ms: t.Integer() })),
})
export type Verification = Static<typeof Verification>

export const OperatorKeyId = defineId('operator_key')
export type OperatorKeyId = Id<'operator_key'>

/** Body of `POST /ops/v1/operators`. */
export const NewOperator = t.Object({
  name: t.String({ minLength: 1, maxLength: 64, pattern: form('^[^\\s]', 'a name that does not start with a space') }),
  role: oneOf(OPERATOR_ROLES),
  expires_at: t.Optional(nullable(Timestamp)),
})
export type NewOperator = Static<typeof NewOperator>

/** An operator key, without its secret. */
export const Operator = t.Object({
  id: OperatorKeyId.schema,
  object: t.Literal('operator_key'),
  name: t.String(),
  prefix: t.String(),
  role: oneOf(OPERATOR_ROLES),
  status: oneOf(['active', 'expired', 'revoked'] as const),
  created: Timestamp,
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
})
export type Operator = Static<typeof Operator>
export const OperatorList = t.Object({ operators: t.Array(Operator) })

export const OperatorWithSecret = t.Object({ ...Operator.properties, key: t.String({ description: 'Shown once' }) })
export type OperatorWithSecret = Static<typeof OperatorWithSecret>

/** One row of the tier table (docs/api.md 1.6), per minute. */
export const TierRow = t.Object({
  id: oneOf(TIERS),
  object: t.Literal('tier'),
  rpm: t.Integer(),
  tpm: t.Integer(),
  text: t.Integer(),
  stealth: t.Integer(),
  image: t.Integer(),
  research: t.Integer(),
  video: t.Integer(),
  changed: t.Array(t.String(), { description: 'Limits changed by the configuration' }),
})
export type TierRow = Static<typeof TierRow>
export const TierList = t.Object({ tiers: t.Array(TierRow) })
export const NewTier = t.Object({ tier: oneOf(TIERS) })

/** A request for a higher tier with the current usage, for the reviewer (docs/operating.md 2.16). */
const Rate = t.Object({ requests: t.Integer(), tokens: t.Integer() })
export const WeighedIncrease = t.Object({
  ...Increase.properties,
  peak: { ...Rate, description: 'Busiest minute of any of its keys in the last seven days' },
  current_limits: { ...Rate, description: 'Limits per minute of the current tier' },
  requested_limits: { ...Rate, description: 'Limits per minute of the requested tier' },
})
export type WeighedIncrease = Static<typeof WeighedIncrease>
export const WeighedIncreases = pageOf('requests', WeighedIncrease)

export const LimitDecision = t.Object({ ...Decision.properties, tier: t.Optional(oneOf(TIERS)) })
export type LimitDecision = Static<typeof LimitDecision>

export const TraceQuery = t.Object({
  owner: t.Optional(t.String({ maxLength: 320, description: 'Owner of the request, if no process has it in memory' })),
  since: t.Optional(Timestamp),
})
export type TraceQuery = Static<typeof TraceQuery>

/** Answer of `GET /ops/v1/requests/{ref}`. */
export const RequestTrace = t.Object({
  object: t.Literal('trace'),
  id: t.String(),
  owner: nullable(t.String()),
  request: nullable(
    t.Object({
      id: t.String(),
      at: Timestamp,
      method: t.String(),
      path: t.String(),
      status: t.Integer(),
      ms: t.Number(),
      key: nullable(t.String()),
      user: nullable(t.String()),
      code: nullable(t.String()),
    }),
  ),
  steps: t.Array(
    t.Object({
      kind: oneOf(['stage', 'engine', 'tool', 'settled'] as const),
      name: t.String(),
      at: Timestamp,
      ms: t.Number(),
      facts: JsonObject,
    }),
  ),
  ledger: t.Array(
    t.Object({
      ref: t.String(),
      kind: t.String(),
      amount_cents: t.Number(),
      balance_cents: t.Number(),
      at: Timestamp,
      note: nullable(t.String()),
    }),
  ),
  audit: t.Array(
    t.Object({
      id: t.String(),
      action: t.String(),
      entity_type: t.String(),
      entity_id: nullable(t.String()),
      at: Timestamp,
      output: JsonObject,
    }),
  ),
})
export type RequestTrace = Static<typeof RequestTrace>
