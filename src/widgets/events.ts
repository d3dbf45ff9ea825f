import { defineEvent } from '../events'

/** Data of the three (contract 14.2). */
type Standing = {
  config_id: string
  session_id: string
  takeover_status: string
  operator_id: string | null
}

export const humanRequested = defineEvent<Standing>('widget.human_requested')
export const takeoverStarted = defineEvent<Standing>('widget.takeover_started')
export const takeoverReleased = defineEvent<Standing>('widget.takeover_released')
