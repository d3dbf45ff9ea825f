/** Rate limits: exact 60-second windows of requests, of requests per mode, and of tokens. */
export { rateLimitSettings } from './config'
export { createRateLimiter, type RateLimiter, type TokenTicket } from './limiter'
export { createTiers, type Tiers } from './tiers'
