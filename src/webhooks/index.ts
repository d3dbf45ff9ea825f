/** Webhooks: addresses that receive events, signed, until they have answered (docs/api.md 14). */

export type { Send } from './deliver'
export { deliverySums, newestDeliveries } from './repository'
export { resealWebhooks } from './reseal'
export { createWebhooks } from './service'
