import type { AuditLog } from '../audit'
import type { EngineService } from '../engines'
import {
  type Blocked,
  firedBy,
  type Guard,
  type GuardrailService,
  guardrailBlocked,
  replacementText,
} from '../guardrails'
import type { Call } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import type { RateLimiter } from '../limits'
import type { SkillService } from '../skills'
import type { SandboxInput } from '../skills/schema'
import type { Tool, Tools } from '../tools'
import type { Agent } from './agent-loop'
import type { AgentResult, Task } from './agent-schema'
import { assembleSystem } from './decide'

type Turn = NonNullable<SandboxInput['history']>[number]

const refusalOf = ({ guardrailId, message, detail }: Blocked, path: string) =>
  guardrailBlocked(guardrailId, message, path, detail)

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
export type TrialResult = {
  response: string
  tools_called: { name: string; arguments: Record<string, unknown>; result: unknown }[]
  cost_cents: 0
}

const ITERATIONS = 4
const MAX_TOKENS = 1_024
const MODE = 'fast'

/**
 * Tries a skill (docs/api.md 8.3) in one short run, in which the skill's tools only report that they were called.
 * Nothing is billed, and only an audit row is stored. The rate limits of the caller's tier and a daily number of trials
 * limit the use of engines. The caller's guardrail policy applies. Throws 429 `mode_rate_limit_exceeded`,
 * `rate_limit_exceeded` and `token_limit_exceeded`, 400 `guardrail_blocked`, and what `skills.trial` and engines throw.
 */
export const createSandbox =
  ({ store, audit, agent, engines, tools, skills, guardrails, limiter }: Deps) =>
  async (call: Call, input: SandboxInput): Promise<TrialResult> => {
    const skill = await skills.trial(call, input)
    await limiter.admitMode(call.caller, MODE)
    await skills.claimTrial(call)
    const guard = await guardrails.guardOf(call.caller)
    const isGuarded = guard?.hasRules('input')
    const request = isGuarded ? await guardedOrder(guard!, call, input) : input
    const {
      prompt: skillPrompt,
      tools: brought,
      modelPreference,
    } = isGuarded && input.manifest ? await guardedSkill(guard!, call, skill) : skill
    const approved = brought.map(({ name }) => name)
    const toolset = tools.assemble({ inline: [], skills: brought, system: false, approved, call })
    const engineId = engines.canonical(modelPreference ?? engines.forMode(MODE))
    const plain = { persona: 'svc' as const, personality: null, style: null, branding: false, componentLibrary: 'svc' }
    const system = assembleSystem({ ...plain, mode: MODE, soul: null, memories: [], skills: skillPrompt })
    const acting: Task['acting'] = toolset.definitions.length
      ? {
          toolset,
          call,
          conversationId: null,
          maxIterations: ITERATIONS,
          spent: { turns: [], toolUses: [], textLength: 0 },
          afford: async ({ completionTokens }) => completionTokens,
          unpaid: () => new Error('nothing is paid for here'),
          guard,
        }
      : null
    const max = Math.min(MAX_TOKENS, engines.maxOutputTokens(engineId))
    const task = taskOf(call, request, { engineId, system, acting, maxOutputTokens: max })
    const { content, toolUses } = await answerWithin(call, task)
    const about = { systemPrompt: system, sources: [], readJson: null }
    const checked = guard?.hasRules('output') ? await guard.checkAnswer(content, about, call.signal) : null
    const response = checked?.blocked ? replacementText(checked.blocked) : (checked?.value ?? content)
    const fired = guard?.firings.length ? { output: firedBy(guard, guard.firings) } : {}
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'skill.tested',
        entityType: 'skill',
        entityId: request.skill_id ?? 'manifest',
        input: { prompt_sha256: sha256Hex(request.prompt), prompt_length: request.prompt.length },
        ...fired,
      }),
    )
    return {
      response,
      tools_called: toolUses.map(({ name, arguments: given, result }) => ({ name, arguments: given, result })),
      cost_cents: 0,
    }

    /** Reserves tokens of the caller's limit per minute, and corrects them to the true count after the answer. */
    async function answerWithin({ caller }: Call, task: Task): Promise<AgentResult> {
      const turns = [...task.history, { role: 'user' as const, content: task.prompt }]
      const prompt = engines.countTokens(task.system ?? '') + engines.countPrompt(turns)
      const ticket = await limiter.reserveTokens(caller, prompt, task.maxOutputTokens)
      let took = 0
      try {
        const result = await agent.answer(task)
        took = result.promptTokens + result.completionTokens
        return result
      } finally {
        ticket.correct(took)
      }
    }
  }

/** The agent's task: the prompt and the turns before it, as plain text. */
const taskOf = (
  call: Call,
  { prompt, history = [] }: SandboxInput,
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

/**
 * The prompt and the turns of a sandbox run after the input rules. Redacts the assistant's turns as accompanying texts,
 * as in a completion. Throws 400 `guardrail_blocked`.
 */
async function guardedOrder(guard: Guard, { signal }: Call, input: SandboxInput): Promise<SandboxInput> {
  const { prompt, history = [] } = input
  const textOf = (role: Turn['role']) => history.filter((turn) => turn.role === role).map(({ content }) => content)
  const passed = await guard.checkInput([prompt, ...textOf('user')], signal)
  if (passed.blocked) throw refusalOf(passed.blocked, passed.place === 0 ? 'prompt' : 'history')
  const [first, ...userTexts] = passed.value
  const assistantTexts = await guard.redactEarlier(textOf('assistant'), signal, 'accompanying')
  const turns = history.map((turn) => ({
    ...turn,
    content: (turn.role === 'user' ? userTexts : assistantTexts).shift()!,
  }))
  return { ...input, prompt: first!, ...(input.history ? { history: turns } : {}) }
}

/**
 * A skill whose manifest the caller sent, checked like a persona and tools of a completion. Throws 400
 * `guardrail_blocked`.
 */
async function guardedSkill<S extends { prompt: string | null; tools: readonly Tool[] }>(
  guard: Guard,
  { signal }: Call,
  skill: S,
): Promise<S> {
  const passed = await guard.checkInput([skill.prompt ?? ''], signal, 'accompanying')
  if (passed.blocked) throw refusalOf(passed.blocked, 'manifest')
  const prose = skill.tools.map(({ description }) => description)
  const fixed = skill.tools.flatMap(({ name, inputSchema }) => [name, ...textsOf(inputSchema)])
  const tools = await guard.checkToolDefinitions({ prose, fixed: [...new Set(fixed)] }, signal)
  if (tools.blocked) throw refusalOf(tools.blocked, 'manifest')
  return {
    ...skill,
    prompt: skill.prompt === null ? null : passed.value[0]!,
    tools: skill.tools.map((tool, place) => ({ ...tool, description: tools.value[place]! })),
  }
}

/** Every name and text of a JSON Schema. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...textsOf(member),
  ])
}
