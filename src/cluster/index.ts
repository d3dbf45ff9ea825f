/** What the processes of one installation share: messages between them, who is alive, traffic figures and mail. */

export { createLive, eitherWire, type Live, type LiveMessage } from './live'
export { createMail, type Mail, MailFailure } from './mail'
export {
  createNodes,
  FAR_OFF_MS,
  hasLease,
  hasOtherNodes,
  isGone,
  keepSecrets,
  type NodeRow,
  OFF_MS,
  RENEW_MS,
  renewLease,
  secretsOf,
  setDrain,
  startLeaseLoop,
} from './nodes'
export { createTraces, createTraffic, type RequestLine, type TracedStep, type Traces, type Traffic } from './traffic'
