import { defineEvent } from '../events'

/** Data of connector events (docs/api.md 14.2). */
type ConnectorFacts = { connector_id: string; type: string; status: string; previous_status: string | null }

export const connectorCreated = defineEvent<ConnectorFacts>('connector.created')
export const connectorChanged = defineEvent<ConnectorFacts>('connector.status_changed')

/** A hook failed too often and is paused. Reported to its owner (docs/api.md 11.1, docs/attacks.md R8). */
export const hookPaused = defineEvent<{
  hook_id: string
  event_pattern: string
  skill_slug: string
  consecutive_failures: number
  error: string | null
}>('hook.paused')

/** Data of `workflow.completed` and `workflow.failed` (docs/api.md 14.2). */
type RunEnded = {
  workflow_id: string
  run_id: string
  name: string
  status: string
  trigger_type: string
  steps_completed: number
  error: string | null
  started_at: string
  completed_at: string
}

export const workflowCompleted = defineEvent<RunEnded>('workflow.completed')
export const workflowFailed = defineEvent<RunEnded>('workflow.failed')

/** The event of an `in_app` notification: its payload has `to`, `subject`, `body` and the run (docs/api.md 10). */
export const NOTIFICATION = 'notification.created'
