import { defineEvent } from '../events'

/** What subscribers of `completion.created` learn; never the prompt or the answer. */
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
