/** Making: one charged request that makes something, and what charged work has in common. */

export { clientLeft, promptIn } from './errors'
export { type CompletionFacts, completionCreated } from './events'
export type { Made, Work } from './kind'
export { type Ending, emitFirings, endingOf } from './record'
export { createHolds, createMaking, type Deadline, type Holds, type MakingService, startDeadline } from './service'
