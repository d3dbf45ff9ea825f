/** Webhooks: addresses that receive events, signed, until they have answered (contract 14). */
export { deliverySums, newestDeliveries } from './repository'
export { resealWebhooks } from './reseal'
export type { Send } from './send'
export { createWebhooks } from './service'
