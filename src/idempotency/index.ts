/** Idempotency: stores the answer to a request with an Idempotency-Key with its effect, and replays it for a day. */

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
