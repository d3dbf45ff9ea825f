import type { Consumption } from '../billing'
import { defineEvent } from '../events'
import type { Draft, Source } from '../files'
import type { About, Artifact, ArtifactId } from '../files/schema'
import type { Call, OwnerScope } from '../kernel/caller'
import { AppError, defineError } from '../kernel/errors'
import type { KeyId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { isBlank } from '../kernel/text'

/** Data of `completion.created` (docs/api.md 14.2). Never contains the prompt, the answer or tool arguments. */
export type CompletionFacts = {
  completion_id: string
  /** `completion`, or the kind of the thing that was made (docs/api.md 6). */
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

/** Never sent, because the client has left. The usage and audit rows give it as the reason. */
export const clientLeft = defineError('client_closed', () => 'The client closed the connection.')

export const tookTooLong = defineError(
  'request_timeout',
  (seconds: number) => `This did not finish within ${seconds} s. Nothing was charged; try again, or ask for less.`,
)

/** What can be made, under the names that the record and the event use (docs/api.md 6). */
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

/** What the caller wants made, before any work. */
export type WorkRequest = {
  kind: Kind
  /** Id of the thing to make. The hold and the rows of the record use it. */
  id: string
  /** Mode whose rate limit counts the work, and the mode of its usage row. */
  mode: string
  /** The service's own engine id. */
  engineId: string
  /** Second engine that works on it. The price of its usage is added. */
  also?: string | undefined
  /** True for an embedded engine: nothing is held or charged. */
  free: boolean
  /** The caller's texts by request field. The first is the prompt. */
  texts: Readonly<Record<string, string>>
  /** Maximum usage. Its price is held. */
  max: Consumption
  /** Tokens of the prompt, if `max` counts everything that may be read for the work. */
  reads?: number
  /** Called after the policy has checked the texts. `max` and `reads` of what is left to make, if some is known. */
  rest?(texts: WorkRequest['texts']): Promise<Pick<WorkRequest, 'max' | 'reads'>>
  /** More members for the audit row. Never what the caller wrote. */
  facts?: Record<string, unknown>
}

/** Input of `make`. */
export type Work = {
  /** The caller's texts by request field, as the guardrail policy leaves them. */
  texts: Readonly<Record<string, string>>
  /** Aborts when the client leaves or the time is up. */
  signal: AbortSignal
  owner: OwnerScope
  call: Call
  /** Stores the bytes of a file until it becomes an artifact. If the work fails, the file is removed. */
  keep(source: Source, mimeType: string): Promise<Draft>
  /** Applies the policy to a text from an engine: redacts it, or replaces a blocked text by a fixed sentence. */
  guardOutput(text: string, systemPrompt?: string | null): Promise<{ text: string; withheld: boolean }>
}

/** Result of the work. */
export type WorkResult = {
  /** Charged at the price of the engine that answered. */
  used: Consumption
  /** The engine that answered, if it is not the requested one. */
  engineId?: string
  free?: boolean
  /** True if nothing was made because all of it was known. */
  cached?: boolean
  /** Become artifacts in the transaction that charges, in this order. */
  files: readonly { draft: Draft; about: About; id?: ArtifactId }[]
  /** Commits with the charge. The cost is in micro-cents. */
  effects?(tx: Tx, costMicro: number): Promise<unknown>
}

type Finished<M extends WorkResult> = {
  made: M
  artifacts: Artifact[]
  costMicro: number
  costCents: number
  at: number
}

export type Input<M extends WorkResult, Answer> = WorkRequest & {
  make(work: Work): Promise<M>
  /** Builds the response, which is also stored for its Idempotency-Key. */
  answer(finished: Finished<M>): Answer
}

/**
 * The prompt of a request that makes something. Throws 400 `missing_prompt` when it is absent or blank (docs/api.md 6).
 */
export function promptIn({ prompt }: { prompt?: string | undefined }): string {
  if (prompt !== undefined && !isBlank(prompt)) return prompt
  const message = '"prompt" is missing or blank. Send a non-empty string that describes what to create.'
  throw new AppError('missing_prompt', message, { param: 'prompt', details: [{ path: 'prompt', message }] })
}
