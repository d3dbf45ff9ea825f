import { defineEvent } from '../events'

/** Data of the three (contract 14.2). */
type SessionState = {
  config_id: string
  session_id: string
  takeover_status: string
  operator_id: string | null
}

export const humanRequested = defineEvent<SessionState>('widget.human_requested')
export const takeoverStarted = defineEvent<SessionState>('widget.takeover_started')
export const takeoverReleased = defineEvent<SessionState>('widget.takeover_released')
