import { defineEvent } from '../../events'

/** Data of `workflow.completed` and `workflow.failed` (contract 14.2). */
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

/** The event of an `in_app` notification: its payload has `to`, `subject`, `body` and the run (contract 10). */
export const NOTIFICATION = 'notification.created'
