import type { Consumption } from '../billing'
import { defineEvent } from '../events'
import type { Draft, Source } from '../files'
import type { About, Artifact, ArtifactId } from '../files/schema'
import type { Call, OwnerScope } from '../kernel/caller'
import { AppError, defineError } from '../kernel/errors'
import type { KeyId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { isBlank } from '../kernel/text'

/** Data of `completion.created` (docs/api.md 14.2); never the prompt, the answer, or what tools were asked. */
export type CompletionFacts = {
  completion_id: string
  /** `completion`, or the kind of thing that was made (docs/api.md 6). */
  object: string
  mode: string
  resolved_mode: string
  model: { id: string; label: string; engine: string }
  conversation_id: string | null
  api_key_id: KeyId | null
  usage: {
    cost_cents: number
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    cached?: true
  }
  tools_used: { name: string; status: string }[]
  artifact_count: number
  metadata: Record<string, unknown> | null
  request_id: string
  created: string
}

export const completionCreated = defineEvent<CompletionFacts>('completion.created')

/** Never sent, because the client is gone; the usage and audit rows name it as the reason. */
export const clientLeft = defineError('invalid', 'client_closed', () => 'The client closed the connection.')

export const tookTooLong = defineError(
  'timeout',
  'request_timeout',
  (seconds: number) => `This did not finish within ${seconds} s. Nothing was charged; try again, or ask for less.`,
)

/** What can be made, as the record and the event name it (docs/api.md 6). */
type Kind =
  | 'embedding'
  | 'image'
  | 'video'
  | 'code'
  | 'document'
  | 'tts'
  | 'stt'
  | 'voice'
  | 'research'
  | 'browser_step'

/** What is asked for, before any work. */
export type Wanted = {
  kind: Kind
  /** The id of what is made: it names the hold and the rows of the record. */
  id: string
  /** Whose rate it counts towards, and the mode of its usage row. */
  mode: string
  /** The service's own engine id. */
  engineId: string
  /** Another engine that works on it, whose price of what it uses is added. */
  also?: string | undefined
  /** An embedded engine makes it: nothing is held or charged. */
  free: boolean
  /** What the caller wrote, under its field of the request; the first is what is asked for. */
  texts: Readonly<Record<string, string>>
  /** The most that it may use; its price is held. */
  max: Consumption
  /** Tokens of the prompt, where `most` has those of everything that may be read for it. */
  reads?: number
  /**
   * Once the policy has read the texts: `max` and `reads` of what is left to make, where some of it is known already.
   */
  rest?(texts: Wanted['texts']): Promise<Pick<Wanted, 'max' | 'reads'>>
  /** More for its audit row; never what the caller wrote. */
  facts?: Record<string, unknown>
}

/** What `make` works with. */
export type Work = {
  /** The caller's texts as its guardrail policy leaves them, under the same fields. */
  texts: Readonly<Record<string, string>>
  /** Aborts when the client leaves or the time is up. */
  signal: AbortSignal
  owner: OwnerScope
  call: Call
  /** Keeps the bytes of a file until they are an artifact; those of a failed making are removed. */
  keep(source: Source, mimeType: string): Promise<Draft>
  /** A text that an engine wrote, as the policy leaves it: redacted, or the sentence in place of a blocked one. */
  guardOutput(text: string, systemPrompt?: string | null): Promise<{ text: string; withheld: boolean }>
}

/** What came of it. */
export type Made = {
  /** What is charged, at the price of the engine that answered. */
  used: Consumption
  /** The engine that answered, where it is another one than the one asked. */
  engineId?: string
  free?: boolean
  /** Nothing was made: all of it was known. */
  cached?: boolean
  /** Become artifacts in the commit of the charge, in this order. */
  files: readonly { draft: Draft; about: About; id?: ArtifactId }[]
  /** Commits with the charge, in micro-cents. */
  effects?(tx: Tx, costMicro: number): Promise<unknown>
}

type Finished<M extends Made> = {
  made: M
  artifacts: Artifact[]
  costMicro: number
  costCents: number
  at: number
}

export type Input<M extends Made, Answer> = Wanted & {
  make(work: Work): Promise<M>
  /** The answer to the request; stored for its Idempotency-Key. */
  answer(finished: Finished<M>): Answer
}

/**
 * The prompt of a request that makes something. Throws 400 `missing_prompt` when it is absent or blank (docs/api.md 6).
 */
export function promptIn({ prompt }: { prompt?: string | undefined }): string {
  if (prompt !== undefined && !isBlank(prompt)) return prompt
  const message = '"prompt" is missing or blank. Send a non-empty string that describes what to create.'
  throw new AppError('invalid', 'missing_prompt', message, { param: 'prompt', details: [{ path: 'prompt', message }] })
}
