import type { AuditLog } from '../audit'
import type { EngineService } from '../engines'
import { type Guard, type GuardrailService, standIn } from '../guardrails'
import type { Call } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import type { RateLimiter } from '../rate-limits'
import type { SkillService } from '../skills'
import type { SandboxOrder } from '../skills/schema'
import type { Tools } from '../tools'
import { assembleSystem } from './context'
import type { Agent } from './loop'
import { guardedOrder, guardedSkill } from './sandbox-guard'
import type { Task, Thought } from './schema'

type Deps = {
  store: Store
  audit: AuditLog
  agent: Agent
  engines: EngineService
  tools: Tools
  skills: Pick<SkillService, 'trial' | 'claimTrial'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  limiter: Pick<RateLimiter, 'admitMode' | 'reserveTokens'>
}

export type Sandbox = ReturnType<typeof createSandbox>
export type Tried = {
  response: string
  tools_called: { name: string; arguments: Record<string, unknown>; result: unknown }[]
  cost_cents: 0
}

const ITERATIONS = 4
const MOST_TOKENS = 1_024
const MODE = 'fast'

/**
 * Tries a skill (contract 8.3): one short run in which the skill's tools only report that they were called. Nothing
 * is billed, and only an audit row is stored; the rate limits of the caller's tier and a daily number of trials bound
 * the use of engines. The caller's guardrail policy applies. Throws 429 `mode_rate_limit_exceeded`,
 * `rate_limit_exceeded` and `token_limit_exceeded`, 400 `guardrail_blocked`, and what `skills.trial` and engines throw.
 */
export const createSandbox =
  ({ store, audit, agent, engines, tools, skills, guardrails, limiter }: Deps) =>
  async (call: Call, order: SandboxOrder): Promise<Tried> => {
    const skill = await skills.trial(call, order)
    await limiter.admitMode(call.caller, MODE)
    await skills.claimTrial(call)
    const guard = await guardrails.guardOf(call.caller)
    const isGuarded = guard?.hasRules('input')
    const asked = isGuarded ? await guardedOrder(guard!, call, order) : order
    const {
      prompt: skillPrompt,
      tools: brought,
      modelPreference,
    } = isGuarded && order.manifest ? await guardedSkill(guard!, call, skill) : skill
    const approved = brought.map(({ name }) => name)
    const toolset = tools.assemble({ inline: [], skills: brought, system: false, approved, call })
    const engineId = engines.canonical(modelPreference ?? engines.forMode(MODE))
    const system = systemOf(skillPrompt)
    const acting = toolset.definitions.length ? { ...actingOf(call, toolset), guard } : null
    const most = Math.min(MOST_TOKENS, engines.maxOutputTokens(engineId))
    const task = taskOf(call, asked, { engineId, system, acting, maxOutputTokens: most })
    const { content, toolUses } = await answerWithin(call, task)
    const response = guard?.hasRules('output') ? await guardedAnswer(guard, call, { content, system }) : content
    const fired = guard?.firings.length ? { output: { guardrails: [...guard.firings] } } : {}
    await store.write((tx) =>
      audit.record(tx, call, { action: 'skill.tested', entityType: 'skill', ...aboutOf(asked), ...fired }),
    )
    return {
      response,
      tools_called: toolUses.map(({ name, arguments: given, result }) => ({ name, arguments: given, result })),
      cost_cents: 0,
    }

    /** Reserves tokens of the caller's limit per minute, and corrects them to the true count after the answer. */
    async function answerWithin({ caller }: Call, task: Task): Promise<Thought> {
      const turns = [...task.history, { role: 'user' as const, content: task.prompt }]
      const claimed = engines.countTokens(task.system ?? '') + engines.countPrompt(turns) + task.maxOutputTokens
      const ticket = await limiter.reserveTokens(caller, claimed)
      let took = 0
      try {
        const thought = await agent.answer(task)
        took = thought.promptTokens + thought.completionTokens
        return thought
      } finally {
        ticket.correct(took)
      }
    }
  }

type Said = { content: string; system: string | null }

async function guardedAnswer(guard: Guard, { signal }: Call, { content, system }: Said): Promise<string> {
  const { value, blocked } = await guard.checkAnswer(
    content,
    { systemPrompt: system, sources: [], readJson: null },
    signal,
  )
  return blocked ? standIn(blocked) : value
}

const systemOf = (skills: string | null): string | null => {
  const plain = { persona: 'svc' as const, personality: null, style: null, branding: false, componentLibrary: 'svc' }
  return assembleSystem({ ...plain, mode: MODE, soul: null, memories: [], skills })
}

/** The agent's task: the prompt and the turns before it, as plain text. */
const taskOf = (
  call: Call,
  { prompt, history = [] }: SandboxOrder,
  by: Pick<Task, 'engineId' | 'system' | 'acting' | 'maxOutputTokens'>,
): Task => ({
  ...by,
  call,
  mode: MODE,
  history,
  prompt,
  after: [],
  images: [],
  temperature: undefined,
  json: false,
  signal: call.signal,
  offered: null,
})

const actingOf = (call: Call, toolset: NonNullable<Task['acting']>['toolset']): NonNullable<Task['acting']> => ({
  toolset,
  call,
  conversationId: null,
  maxIterations: ITERATIONS,
  spent: { turns: [], uses: [], said: 0 },
  afford: async ({ completionTokens }) => completionTokens,
  unpaid: () => new Error('nothing is paid for here'),
})

const aboutOf = ({ skill_id, prompt }: SandboxOrder) => ({
  entityId: skill_id ?? 'manifest',
  input: { prompt_sha256: sha256Hex(prompt), prompt_length: prompt.length },
})
