import { defineEvent } from '../../events'

/** A hook failed too often and is paused: told to its owner (contract 11.1, catalogue R8). */
export const hookPaused = defineEvent<{
  hook_id: string
  event_pattern: string
  skill_slug: string
  consecutive_failures: number
  error: string | null
}>('hook.paused')
