/** Public jobs: work that callers start, follow, cancel and pay for; each kind is defined in its own room. */
export { queueUnavailable } from './errors'
export { jobCompleted, jobFailed } from './events'
export type { Made, PublicKind } from './kind'
export { createPublicJobs, type Later, type PublicJobs, pollUrlOf } from './service'
