import { defineEvent } from '../events'
import type { KeyId } from '../kernel/ids'

/** Data of `completion.created` (contract 14.2); never the prompt, the answer, or what tools were asked. */
export type CompletionFacts = {
  completion_id: string
  /** `completion`, or the kind of thing that was made (contract 6). */
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
