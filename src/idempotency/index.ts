/** Idempotency: the answer to a request with an Idempotency-Key, stored with its effect and replayed for a day. */

export { resealAnswers } from './reseal'
export {
  createIdempotency,
  expiredKeys,
  fingerprintOf,
  type Idempotency,
  type Replay,
  type Request,
  startIdempotencyLoop,
  storeAnswer,
  type Ticket,
} from './service'
