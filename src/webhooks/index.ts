/** Webhooks: addresses that receive signed events until they have confirmed them (docs/api.md 14). */

export type { Send } from './deliver'
export { deliverySums, newestDeliveries } from './repository'
export { resealWebhooks } from './reseal'
export { createWebhooks } from './service'
