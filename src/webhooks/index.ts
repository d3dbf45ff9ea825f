/** Webhooks: addresses that receive events, signed, until they have answered (contract 14). */
export { createWebhooks } from './service'
