/** Work that outlives a request: leased jobs, and the takeovers of conversations by people. */
export {
  defineJob,
  GiveUp,
  type JobKind,
  type Outcome,
  RECURRING,
  type Running,
  recurring,
} from './kind'
export { jobSums, newestJobs, payloadsOf } from './operator-reads'
export { createJobs, type Jobs } from './service'
export { statusOf } from './shown'
export type { JobRow } from './table'
export type { Change, Holder, Takeover } from './takeover'
export { createTakeovers, type Takeovers } from './takeovers'
export { stateOf, waitingOf } from './takeovers-waiting'
