/** What the processes of one installation share: messages between them, who is alive, traffic figures and mail. */

export { createLive, type Heard, type Live } from './live'
export { eitherWire } from './live-either-wire'
export { createMail, type Mail, MailFailure } from './mail'
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
} from './nodes-lease-loop'
export { keepSecrets, secretsOf } from './nodes-secrets'
export { createTraffic, type RequestLine, type Traffic } from './traffic'
export { createTraces, type TracedStep, type Traces } from './traffic-traces'
