import { OwnerRef } from '../accounts/orgs/schema'
import { AuditEvent, AuditExport, AuditQuery } from '../audit/schema'
import { OPERATOR_ROLES, TIERS } from '../kernel/caller'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { MAX_CENTS } from '../kernel/money'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Decision, Increase } from '../limits/schema'
import { Expiring } from '../usage/schema'

export type { StreamEvent, TopicName } from './schema-stream'

/** `owner` may also be `server`: the chain of events that belong to no tenant. */
const chain = { owner: t.Optional(OwnerRef) }
export const OperatorAuditQuery = t.Object({ ...AuditQuery.properties, ...chain })
export const OperatorAuditExport = t.Object({ ...AuditExport.properties, ...chain })
export const ChainQuery = t.Object(chain)
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

/** Credit for an owner, or the completion of an open checkout. */
export const NewGrant = t.Object({
  owner: t.Optional(OwnerRef),
  amount_cents: t.Optional(t.Number({ exclusiveMinimum: 0, maximum: MAX_CENTS })),
  checkout: t.Optional(t.String({ maxLength: 64 })),
  expires_at: t.Optional(nullable({ ...Timestamp, description: 'When the unspent rest expires; default: never' })),
  note: t.Optional(t.String({ maxLength: 500 })),
  idempotency_key: t.Optional(
    t.String({ pattern: form('^[A-Za-z0-9\\-_.:]{1,200}$', 'at most 200 letters, digits and - _ . :') }),
  ),
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

export const Status = t.Object({
  object: t.Literal('status'),
  version: t.String(),
  mode: oneOf(['dev', 'production'] as const),
  health: oneOf(['healthy', 'degraded', 'down'] as const),
  api_url: nullable(t.String()),
  public_url: nullable(t.String()),
  data_dir: t.String(),
  pid: t.Integer(),
  started_at: Timestamp,
  now: Timestamp,
  database: t.Object({
    dialect: oneOf(['sqlite', 'postgres'] as const),
    place: t.String(),
    ok: t.Boolean(),
    latency_ms: nullable(t.Number()),
    /** Null while the database does not answer. */
    migrations_applied: nullable(t.Integer()),
    migrations_known: nullable(t.Integer()),
  }),
  /** Null where none is configured. */
  redis: nullable(t.Object({ ok: t.Boolean(), latency_ms: nullable(t.Number()), problem: nullable(t.String()) })),
  nodes: t.Object({
    count: t.Integer(),
    unserved: t.Array(t.String(), { description: 'Roles that no process has' }),
    scattered_files: t.Boolean({ description: 'Nodes store files where the other nodes cannot read them' }),
    clock_ahead_ms: t.Integer({
      description: 'How far the clock of this node is ahead of that of the database; negative if it is behind',
    }),
  }),
  engines: t.Object({ connected: t.Integer(), builtin: t.Integer(), failing: t.Integer() }),
  operator: t.Object(
    { name: t.String(), role: oneOf(OPERATOR_ROLES) },
    { description: 'The operator, and their permissions' },
  ),
})
export type Status = Static<typeof Status>

/** The checks of the store and what they found (I6, I8, I20). */
export const Verification = t.Object({
  object: t.Literal('verification'),
  ok: t.Boolean(),
  checked_at: Timestamp,
  checks: t.Array(t.Object({ check: t.String(), violations: t.Array(t.String()), ms: t.Integer() })),
})
export type Verification = Static<typeof Verification>

export type { RequestTrace } from './schema-trace'

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

/** One row of the tier table (contract 1.6), per minute. */
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

/** A request for a higher tier with the current usage, for whoever decides on it (dx 2.16). */
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
