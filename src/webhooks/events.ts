import { defineEvent } from '../events'

/** The server disabled a webhook. The owner's other webhooks receive this event (docs/api.md 14.3). */
export const webhookDisabled = defineEvent<{
  webhook_id: string
  url: string
  reason: 'auto' | 'gone'
  failure_count: number
  last_delivered_at: string | null
}>('webhook.disabled')
