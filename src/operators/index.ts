/** Operators: what the people who run the server can do, built on the other rooms' services (design 7). */
export { createBackup, sweepUnfinished } from './backup'
export { createBucket, isInBucket } from './backup-bucket'
export { type CheckedBackup, checkBackup, manifestIn, type RestoredPart, restoreBackup, tooNew } from './backup-check'
export { unseal } from './backup-seal'
export { dumpPostgres } from './dump'
export { roleTooSmall } from './errors'
export { createOperators, type OperatorService } from './service'
