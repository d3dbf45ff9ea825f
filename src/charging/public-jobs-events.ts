import { defineEvent } from '../events'

type JobEnded = {
  job_id: string
  type: string
  status: string
  result: string | null
  error: string | null
  usage: { cost_cents: number }
  created_at: string
  completed_at: string | null
}

/** Contract 14.2. */
export const jobCompleted = defineEvent<JobEnded>('job.completed')
export const jobFailed = defineEvent<JobEnded>('job.failed')
