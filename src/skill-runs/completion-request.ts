import type { CompletionRequest } from '../completions'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { Activation } from '../skills'
import { LIMITS, MOST_OUTPUT } from './rules'
import type { RunCause } from './schema'
import type { SkillRunRow } from './table'

/** How a run ended, as columns of its row. */
export type Ending = Pick<SkillRunRow, 'status'> &
  Partial<Pick<SkillRunRow, 'error' | 'output' | 'cost_micro' | 'conversation_id'>>

type Order = {
  active: Activation
  prompt: string
  slug: string
  cause: RunCause
  /** Stores the end in the transaction that charges the run. */
  keep(tx: Tx, ending: Ending): Promise<void>
}

/**
 * The completion request of a skill that runs by itself: that skill and its tools only, no system tools or memories.
 * The result is stored as a conversation.
 */
export const requestOfSkill = ({ active, prompt, slug, cause, keep }: Order): CompletionRequest<object> => ({
  prompt,
  mode: 'fast',
  engine: null,
  overrides: {},
  temperature: undefined,
  voice: { personality: null, style: null, branding: false, componentLibrary: 'svc', persona: 'svc' },
  usesSoul: false,
  context: [],
  after: [],
  images: [],
  skills: [],
  tools: [],
  conversation: 'new',
  sealed: true,
  active,
  bounds: { costMicro: LIMITS.costARun, toolCalls: LIMITS.toolCallsARun },
  maxIterations: LIMITS.toolCallsARun,
  functions: null,
  json: false,
  checkJson: null,
  cache: 'off',
  wantsFollowUps: false,
  metadata: { skill: slug, autonomous: cause, most_cents: microToCents(LIMITS.costARun) },
  alongside: (tx, { costMicro, conversationId }, { content, refusal }) =>
    keep(tx, {
      status: refusal === null ? 'completed' : 'failed',
      error: refusal === null ? null : 'refused',
      output: content.slice(0, MOST_OUTPUT),
      cost_micro: costMicro,
      conversation_id: conversationId,
    }),
  present: () => ({}),
  shape: null,
  warnings: [],
})
