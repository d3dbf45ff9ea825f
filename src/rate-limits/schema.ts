import { TIERS } from '../kernel/caller'
import { JsonObject, nullable, oneOf, RequestId, type Static, t } from '../kernel/schema'

const LimitStatus = t.Object({
  limit: t.Integer(),
  remaining: t.Integer(),
  reset: t.String({ pattern: '^\\d+s$', description: 'Until all of it is free again if nothing more is sent' }),
})
export type LimitStatus = Static<typeof LimitStatus>

/** `GET /rate-limits` (contract 21). */
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
  usage: t.Object({ requests: LimitStatus, tokens: LimitStatus }),
  key_overrides: t.Object({ rpm_limit: nullable(t.Integer()), tpm_limit: nullable(t.Integer()) }),
  pending_request: nullable(JsonObject),
  request_id: RequestId,
})
export type RateLimits = Static<typeof RateLimits>
