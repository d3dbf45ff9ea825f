import { defineError } from '../kernel/errors'

/** The job was not stored (I16), or no process would run it. */
export const queueUnavailable = defineError(
  'unavailable',
  'queue_unavailable',
  () => 'The job could not be queued right now. Nothing was started or charged; try again shortly.',
)

export const hasEnded = defineError(
  'conflict',
  'conflict',
  (status: string) => `The job has ${status}; only a queued or active job can be cancelled.`,
)

export const hasNotFailed = defineError(
  'conflict',
  'conflict',
  (status: string) => `The job is ${status}; only a failed job can be retried.`,
)
