/** Webhooks: addresses that receive events, signed, until they have answered (contract 14). */
export { webhookSettings } from './config'
export { createWebhooks } from './service'
