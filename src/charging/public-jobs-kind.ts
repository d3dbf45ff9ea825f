import type { Hold, Payer } from '../billing/schema'
import type { Draft } from '../files'
import type { About, ArtifactId } from '../files/schema'
import type { JobKind, Running } from '../jobs'
import type { JobType } from '../jobs/schema'
import type { UserId } from '../kernel/ids'
import type { Tx } from '../kernel/store'

/** What a run made. */
export type JobResult = {
  /** The result as callers read it; with a file its address stands in its place. */
  text?: string
  /** `result_data`, besides what is known of the file. */
  data?: Record<string, unknown>
  file?: { draft: Draft; about: About }
  /** Micro-cents; no more than what was held is charged. */
  cost: number
  /** Commits with the end of the job, once. */
  effects?(tx: Tx): Promise<unknown>
}

/** A kind of job that callers start, follow and pay for. The hold is settled or released with its end, once (I9). */
export type PublicKind<Input extends object> = Pick<
  JobKind,
  'name' | 'retry' | 'timeLimitMs' | 'concurrency' | 'concurrencyPerKey' | 'remembers'
> & {
  shown: JobType
  run(job: Running<Input>): Promise<JobResult>
  describe?(error: unknown): string
}

/** What is stored of the order. */
export type Ordered<Input extends object = object> = {
  input: Input
  payer: Payer
  hold: Hold | null
  /** Of the request that started it, for the record. */
  requestId: string
  userId: UserId | null
}

/** What is stored of the result. */
export type Ended = {
  text: string | null
  data: Record<string, unknown> | null
  artifact: ArtifactId | null
  /** Micro-cents that were charged. */
  cost: number
}
