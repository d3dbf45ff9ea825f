/** Nodes: which processes serve a Postgres database, by leases that they renew. */
export { RENEW_MS, startLeaseLoop } from './lease-loop'
export { hasLease, isGone, renewLease } from './repository'
export { createNodes, type Nodes } from './service'
