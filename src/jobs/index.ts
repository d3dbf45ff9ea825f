/** Work that outlives a request: leased jobs, and the takeover of conversations by people. */
export {
  defineJob,
  GiveUp,
  type JobKind,
  type Outcome,
  RECURRING,
  type Running,
  recurring,
} from './kind'
export { jobSums, newestJobs, payloadsOf, statusOf } from './queries'
export { createJobs, type Jobs } from './service'
export type { JobRow } from './table'
export type { Change, Holder, Takeover } from './takeovers'
export { createTakeovers, stateOf, type Takeovers, waitingAmong, waitingOf } from './takeovers'
