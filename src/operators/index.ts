/** The operator API of the server: access, backups, reports and health. */

export { createBrowserOperators } from './access'
export { createBackup, sweepUnfinished } from './backup'
export { createBucket, isInBucket } from './backup-bucket'
export { type CheckedBackup, checkBackup, manifestIn, type RestoredPart, restoreBackup, tooNew } from './backup-check'
export { unseal } from './backup-seal'
export { dumpPostgres } from './dump'
export { roleTooSmall } from './errors'
export { createHealth } from './health'
export { createOperators, type OperatorService } from './service'
