/** Nodes: which processes serve a Postgres database, by leases that they renew, and the secrets that they share. */
export {
  createNodes,
  FAR_OFF_MS,
  hasLease,
  hasOtherNodes,
  isGone,
  OFF_MS,
  RENEW_MS,
  renewLease,
  startLeaseLoop,
} from './lease-loop'
export { keepSecrets, secretsOf } from './secrets'
