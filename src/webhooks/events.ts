import { defineEvent } from '../events'

/** The server has disabled a webhook: told to the owner by the others (docs/api.md 14.3). */
export const webhookDisabled = defineEvent<{
  webhook_id: string
  url: string
  reason: 'auto' | 'gone'
  failure_count: number
  last_delivered_at: string | null
}>('webhook.disabled')
