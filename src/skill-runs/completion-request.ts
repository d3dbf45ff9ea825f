import type { CompletionRequest } from '../completions'
import { microToCents } from '../kernel/money'
import type { Activation } from '../skills'
import { LIMITS } from './rules'
import type { RunCause } from './schema'

export type Ran = { costMicro: number; conversationId: string | null }

type Order = { active: Activation; prompt: string; slug: string; cause: RunCause }

/**
 * The completion request of a skill's hook: that skill and its tools only, no system tools or memories. The result is
 * stored as a conversation.
 */
export const requestOfSkill = ({ active, prompt, slug, cause }: Order): CompletionRequest<Ran> => ({
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
  present: ({ costMicro, conversationId }) => ({ costMicro, conversationId }),
  shape: null,
  warnings: [],
})
