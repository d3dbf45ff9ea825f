import { defineId, type Id } from '../kernel/ids'

export const JobId = defineId('job', 'job')
export type JobId = Id<'job'>

/** States only move forward, except for a retry, which is queued again (docs/api.md 7, docs/promises.md I15). */
export const JOB_STATES = ['queued', 'active', 'completed', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]

/** The job types visible to callers (docs/api.md 7). Kinds without a type are internal work of the server. */
export const JOB_TYPES = ['video', 'research', 'response', 'batch', 'tests'] as const
export type JobType = (typeof JOB_TYPES)[number]

/** Errors of jobs that ended outside a run (docs/api.md 7). */
export const CANCELLED = 'cancelled'
export const QUEUE_TIMEOUT = 'queue timeout'

/** The steps of attempts in a job's log. The job itself records its queueing and its end. */
export const STEP_KINDS = ['begun', 'stage', 'put_off', 'lost'] as const
export type StepKind = (typeof STEP_KINDS)[number]
