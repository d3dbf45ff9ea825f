/** Rate limits per key, organization and tier, exact over a minute. */
export { rateLimitSettings } from './config'
export { createIncreases, type LimitIncreases } from './increases'
export { createRateLimiter, createTiers, type RateLimiter, type Tiers, type TokenTicket } from './limiter'
export { createNodeCounts, type NodeCounts } from './node-counts'
export type { Scripts } from './redis'
