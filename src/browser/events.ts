import { defineEvent } from '../events'

type SessionEnded = {
  session_id: string
  reason: string
  duration_seconds: number
  proxy_bytes: number
  cost_cents: number
}

/** Contract 14.2. */
export const sessionEnded = defineEvent<SessionEnded>('browser.session_ended')
