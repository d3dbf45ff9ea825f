/** Rate limits: exact 60-second windows of requests, requests per mode, and tokens; requests for a higher tier. */
export { rateLimitSettings } from './config'

export { createIncreases, type LimitIncreases } from './increases'
export { createRateLimiter, type RateLimiter, type TokenTicket } from './limiter'
export { expectedTokens } from './rules'
export { createTiers, type Tiers } from './tiers'
