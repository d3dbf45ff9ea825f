/** Idempotency: the answer to a request with an Idempotency-Key, stored with its effect and replayed for a day. */
export { expiredKeys, startIdempotencyLoop } from './idempotency-loop'
export { resealAnswers } from './reseal'
export {
  createIdempotency,
  fingerprintOf,
  type Idempotency,
  type Replay,
  type Request,
  storeAnswer,
  type Ticket,
} from './service'
