import { defineId, type Id } from '../kernel/ids'

export const JobId = defineId('job', 'job')
export type JobId = Id<'job'>

/** States only move forward, but for a retry, which is queued again (contract 7, I15). */
const JOB_STATES = ['queued', 'active', 'completed', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]
