import type { CompletionRequest } from '../completions'
import { AppError } from '../kernel/errors'
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
  alongside: (tx, { call, costMicro, conversationId }, { content, refusal }, broken) => {
    // This worker stops: nothing is charged, and the run is tried again or fails.
    if (broken !== undefined && call.signal.aborted) throw broken
    const error = broken === undefined ? (refusal === null ? null : 'refused') : codeOf(broken)
    return keep(tx, {
      status: error === null ? 'completed' : 'failed',
      error,
      output: content.slice(0, MOST_OUTPUT),
      cost_micro: costMicro,
      conversation_id: conversationId,
    })
  },
  present: () => ({}),
  shape: null,
  warnings: [],
})

const codeOf = (broken: unknown): string => (broken instanceof AppError ? broken.code : 'server_error')
