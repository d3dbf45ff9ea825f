/** Rate limits: exact 60-second windows of requests, of requests per mode, and of tokens, and the way to a higher tier. */
export { rateLimitSettings } from './config'
export { rateLimitUpgraded, type Upgrade } from './events'
export { createIncreases, type LimitIncreases } from './increases'
export { createRateLimiter, type RateLimiter, type TokenTicket } from './limiter'
export { createTiers, type Tiers } from './tiers'
