import { type Blocked, type Guard, guardrailBlocked } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { SandboxOrder } from '../skills/schema'
import type { Tool } from '../tools'

type Turn = NonNullable<SandboxOrder['history']>[number]

/**
 * The prompt and the turns of a sandbox run as the input rules let them in: what the assistant is told to have said
 * goes along with the prompt, as in a completion. Throws 400 `guardrail_blocked`.
 */
export async function guardedOrder(guard: Guard, { signal }: Call, order: SandboxOrder): Promise<SandboxOrder> {
  const { prompt, history = [] } = order
  const said = (role: Turn['role']) => history.filter((turn) => turn.role === role).map(({ content }) => content)
  const passed = await guard.checkInput([prompt, ...said('user')], signal)
  if (passed.blocked) throw refusalOf(passed.blocked, passed.place === 0 ? 'prompt' : 'history')
  const [first, ...asked] = passed.value
  const told = await guard.redactEarlier(said('assistant'), signal, 'accompanying')
  const turns = history.map((turn) => ({ ...turn, content: (turn.role === 'user' ? asked : told).shift()! }))
  return { ...order, prompt: first!, ...(order.history ? { history: turns } : {}) }
}

/**
 * A skill whose manifest the caller sent, checked like a persona and tools of a completion. Throws 400
 * `guardrail_blocked`.
 */
export async function guardedSkill<S extends { prompt: string | null; tools: readonly Tool[] }>(
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

const refusalOf = ({ guardrailId, message, detail }: Blocked, path: string) =>
  guardrailBlocked(guardrailId, message, path, detail)

/** Every name and text of a JSON Schema. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...textsOf(member),
  ])
}
