import { defineEvent } from '../events'

/** Payload of `completion.created`; never contains the prompt or the answer. */
export type CompletionFacts = {
  id: string
  mode: string
  resolved_mode: string
  model: string
  conversation_id: string | null
  cost_cents: number
  cached: boolean
}

export const completionCreated = defineEvent<CompletionFacts>('completion.created')
