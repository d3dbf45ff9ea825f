import type { Consumption } from '../billing'
import type { Draft, Source } from '../files'
import type { About, Artifact, ArtifactId } from '../files/schema'
import type { Call, OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'

/** What can be made, as the record and the event name it (contract 6). */
type Kind = 'image' | 'video' | 'code' | 'document' | 'tts' | 'stt' | 'voice' | 'research' | 'browser_step'

/** What is asked for, before any work. */
export type Wanted = {
  kind: Kind
  /** The id of what is made: it names the hold and the rows of the record. */
  id: string
  /** Whose rate it counts towards, and the mode of its usage row. */
  mode: string
  /** The service's own engine id. */
  engineId: string
  /** An embedded engine makes it: nothing is held or charged. */
  free: boolean
  /** What the caller wrote, under its field of the request; the first is what is asked for. */
  texts: Readonly<Record<string, string>>
  /** The most that it may use; its price is held. */
  max: Consumption
  /** Tokens of the prompt, where `most` has those of everything that may be read for it. */
  reads?: number
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
  /** A text that an engine wrote, as the policy leaves it: redacted, or the sentence that stands in for a blocked one. */
  guardOutput(text: string, systemPrompt?: string | null): Promise<{ text: string; withheld: boolean }>
}

/** What came of it. */
export type Made = {
  /** What is charged, at the price of the engine that answered. */
  used: Consumption
  /** The engine that answered, where it is another one than the one asked. */
  engineId?: string
  free?: boolean
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
