/** Holds and settles credit for everything the server makes, at once or as a public job. */

export type { Work, WorkResult } from './kind'
export { type CompletionFacts, clientLeft, completionCreated, promptIn } from './kind'
export { createPublicJobs, type Later, type PublicJobs, pollUrlOf } from './public-jobs'
export type { JobResult, PublicKind } from './public-jobs-schema'
export { jobCompleted, jobFailed, publicJobErrors } from './public-jobs-schema'
export { emitFirings, endingOf } from './record'
export {
  type CallEnd,
  type CallRecord,
  type ChargingService,
  createCharging,
  createHolds,
  type Holds,
} from './service'
