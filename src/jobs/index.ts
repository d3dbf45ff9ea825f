/** Jobs: work that outlives a request, as rows that workers lease (design 12.3). */
export {
  defineJob,
  GiveUp,
  type JobKind,
  LONGEST_REST_MS,
  type Outcome,
  RECURRING,
  type Running,
  recurring,
} from './kind'
export { jobSums, newestJobs, payloadsOf } from './oversight'
export { createJobs, type Jobs } from './service'
export { statusOf } from './shown'
export type { JobRow } from './table'
