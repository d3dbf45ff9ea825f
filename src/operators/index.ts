/** Operators: what the people who run the server do, over the rooms' own services (design 7). */
export { createBackup } from './backup'
export { dumpPostgres } from './dump'
export { createOperators, type OperatorService } from './service'
export type { ServerFacts } from './status'
export type { Invariant } from './verify'
