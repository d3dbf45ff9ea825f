import { defineError, invalidInput, quoted } from '../kernel/errors'

const HEADER = 'Idempotency-Key'

export const badKey = (key: string) =>
  invalidInput(
    HEADER,
    `${HEADER} is "${quoted(key)}"; send 1 to 256 characters of A-Z, a-z, 0-9, "-", "_", "." and ":".`,
  )

export const stillRunning = defineError(
  'idempotency_conflict',
  (key: string, forMs: number) =>
    `A request with ${HEADER} "${quoted(key)}" has been running for ${Math.max(0, Math.round(forMs / 1000))} s. Wait for it; the same request then gets its answer with X-Idempotent-Replay: true.`,
)

export const usedOtherwise = defineError(
  'idempotency_conflict',
  (key: string) =>
    `${HEADER} "${quoted(key)}" was used within 24 h for a request with another method, path or body, or with other rights. Send this request with a new key.`,
)

/** This process missed its lease and another process took over the key, so its transaction is rolled back. */
export const takenOver = defineError(
  'idempotency_conflict',
  (key: string) =>
    `A request with ${HEADER} "${quoted(key)}" was started again in another process while this one was stalled. This one changed nothing; send the same request again to get the answer.`,
)
