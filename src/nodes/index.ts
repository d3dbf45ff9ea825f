/** Nodes: which processes serve a Postgres database, by leases that they renew, and the secrets that they share. */
export { RENEW_MS, startLeaseLoop } from './lease-loop'
export { hasLease, hasOtherNodes, isGone, renewLease } from './repository'
export { keepSecrets, secretsOf } from './secrets'
export { createNodes, FAR_OFF_MS, OFF_MS } from './service'
