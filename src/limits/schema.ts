import { TIERS } from '../kernel/caller'
import { defineId, type Id, KeyId, UserId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { namedObject, nullable, oneOf, RequestId, type Static, Timestamp, t } from '../kernel/schema'

export const IncreaseId = defineId('limit_increase', 'rli')
export type IncreaseId = Id<'limit_increase'>

const INCREASE_STATUSES = ['pending', 'approved', 'rejected'] as const
export type IncreaseStatus = (typeof INCREASE_STATUSES)[number]

const Words = t.String({ minLength: 1, maxLength: 2_000 })

/** Body of `POST /rate-limits/request-increase`. */
export const NewIncrease = namedObject('NewRateLimitIncrease', {
  requested_tier: oneOf(['starter', 'pro', 'enterprise'] as const),
  use_case: Words,
  expected_volume: Words,
  key_id: t.Optional({ ...KeyId.schema, description: 'In a session: the only key that is to have the tier' }),
})
export type NewIncrease = Static<typeof NewIncrease>

/** Body of `POST /rate-limits/requests/{id}/decision`. */
export const Decision = namedObject('RateLimitDecision', {
  decision: oneOf(['approve', 'reject'] as const),
  reason: t.Optional(nullable(Words)),
})
export type Decision = Static<typeof Decision>

/** A request for a higher tier (docs/api.md 21). */
export const Increase = namedObject('RateLimitIncrease', {
  id: IncreaseId.schema,
  object: t.Literal('rate_limit_increase'),
  status: oneOf(INCREASE_STATUSES),
  user_id: { ...UserId.schema, description: 'User who made the request' },
  key_id: nullable({
    ...KeyId.schema,
    description: 'Key whose tier would change; null: all personal keys of the user',
  }),
  current_tier: oneOf(TIERS),
  requested_tier: oneOf(TIERS),
  granted_tier: nullable(oneOf(TIERS)),
  use_case: t.String(),
  expected_volume: t.String(),
  reason: nullable(t.String({ description: "The reviewer's reason" })),
  created: Timestamp,
  decided_at: nullable(Timestamp),
})
export type Increase = Static<typeof Increase>

export const IncreaseQuery = t.Object({ ...PageQuery.properties, status: t.Optional(oneOf(INCREASE_STATUSES)) })
export type IncreaseQuery = Static<typeof IncreaseQuery>

const LimitStatus = t.Object({
  limit: t.Integer(),
  remaining: t.Integer(),
  reset: t.String({
    pattern: '^\\d+s$',
    description: 'Seconds until the whole limit is free again if nothing more is sent, such as `60s`',
  }),
})
export type LimitStatus = Static<typeof LimitStatus>

/** `GET /rate-limits` (docs/api.md 21). */
export const RateLimits = t.Object({
  tier: oneOf(TIERS),
  window_seconds: t.Literal(60),
  limits: t.Object({ rpm: t.Integer(), tpm: t.Integer() }),
  mode_limits: t.Object({
    text: t.Integer(),
    stealth: t.Integer(),
    image: t.Integer(),
    research: t.Integer(),
    video: t.Integer(),
  }),
  usage: t.Object({
    requests: LimitStatus,
    tokens: LimitStatus,
    modes: t.Object(
      { text: LimitStatus, stealth: LimitStatus, image: LimitStatus, research: LimitStatus, video: LimitStatus },
      { description: 'Requests per minute for each group of modes' },
    ),
  }),
  key_overrides: t.Object({ rpm_limit: nullable(t.Integer()), tpm_limit: nullable(t.Integer()) }),
  pending_request: nullable(Increase),
  request_id: RequestId,
})
export type RateLimits = Static<typeof RateLimits>
