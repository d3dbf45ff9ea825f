/** Rate limits per key, organization and tier, exact over a minute. */
export { rateLimitSettings } from './config'
export { createIncreases, type LimitIncreases } from './increases'
export { createRateLimiter, type RateLimiter, type TokenTicket } from './limiter'
export { createTiers, type Tiers } from './tiers'
