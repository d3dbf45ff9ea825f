/** Making: one charged request that makes something, and what charged work has in common. */
export { type Deadline, startDeadline } from './deadline'
export { type Ending, endingOf } from './ending'
export { clientLeft, promptIn } from './errors'
export { type CompletionFacts, completionCreated } from './events'
export { emitFirings } from './firings'
export { createHolds, type Holds } from './holds'
export type { Made, Work } from './kind'
export { createMaking, type MakingService } from './service'
