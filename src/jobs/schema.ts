import { defineId, type Id } from '../kernel/ids'

export const JobId = defineId('job', 'job')
export type JobId = Id<'job'>

/** States only move forward, but for a retry, which is queued again (docs/api.md 7, docs/promises.md I15). */
export const JOB_STATES = ['queued', 'active', 'completed', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]

/** What callers know a kind of job as (docs/api.md 7). Kinds without a type are work of the server, shown to nobody. */
export const JOB_TYPES = ['video', 'research', 'response', 'batch', 'tests'] as const
export type JobType = (typeof JOB_TYPES)[number]

/** The errors of jobs that no run ended (docs/api.md 7). */
export const CANCELLED = 'cancelled'
export const QUEUE_TIMEOUT = 'queue timeout'

/** What a job's log says of its tries. When it was queued and how it ended are in the job itself. */
export const STEP_KINDS = ['begun', 'stage', 'put_off', 'lost'] as const
export type StepKind = (typeof STEP_KINDS)[number]
