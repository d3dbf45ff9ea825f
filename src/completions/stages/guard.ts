import { type Blocked, type Guard, type HoldBack, standIn } from '../../guardrails'
import type { AgentResult } from '../agent-schema'
import { readJsonAnswer, wantsJson, workOf } from '../rules'
import type { Run } from '../run'
import { unquoted } from './research-use'

/**
 * The answer as it may be shown, stored and cached: redacted, or replaced when a rule of the caller's policy blocks it
 * (contract 12). Of a streamed answer the hold-back knows what was blocked already. What the engine thought is not
 * checked, so a policy that checks answers shows none of it.
 */
export async function guardOutput(run: Run, result: AgentResult): Promise<AgentResult> {
  const { guard } = run
  if (!guard) return result
  return guarded(run, guard.hasRules('output') ? { ...result, reasoning: '' } : result, guard)
}

async function guarded(run: Run, result: AgentResult, guard: Guard): Promise<AgentResult> {
  const stopped = run.held?.blocked()
  if (stopped) {
    guard.recordBlocked(stopped)
    return withheld(run, result, stopped)
  }
  if (!guard.hasRules('output') || !result.content) return guardToolCalls(run, result, guard)
  const about = { ...aboutAnswer(run), sources: sourcesOf(run, result) }
  const { value, blocked } = await guard.checkAnswer(result.content, about, run.deadline.signal)
  if (blocked) return withheld(run, result, blocked)
  const left = value === result.content ? result : unquoted(run, { ...result, content: value }, { isWithheld: false })
  return guardToolCalls(run, left, guard)
}

/** The hold-back of a streamed answer; null when no rule needs one. */
export const holdBackOf = (run: Run): HoldBack | null =>
  run.guard?.holdBack({ ...aboutAnswer(run), sources: [] }, run.deadline.signal) ?? null

function aboutAnswer({ system, request, resolvedMode }: Run) {
  const isCode = workOf(resolvedMode) === 'genui' && !request.json
  const isJson = request.json || isCode || wantsJson(workOf(resolvedMode))
  return { systemPrompt: system, readJson: isJson ? readJsonAnswer : null, isCode }
}

const withheld = (run: Run, result: AgentResult, by: Blocked): AgentResult => ({
  ...unquoted(run, result, { isWithheld: true }),
  content: standIn(by),
  finish: 'content-filter',
  toolCalls: [],
})

/** Calls of the client's own functions are checked as tool calls; a blocked one is left out. */
async function guardToolCalls(run: Run, result: AgentResult, guard: Guard): Promise<AgentResult> {
  if (!result.toolCalls.length || !guard.hasRules('tool_call')) return result
  let stopped: Blocked | null = null
  const toolCalls: AgentResult['toolCalls'][number][] = []
  for (const call of result.toolCalls) {
    const given = readJson(call.arguments)
    const { value, blocked, name } = await guard.checkToolData('tool_call', call.name, given, run.deadline.signal)
    stopped ??= blocked
    if (!blocked) toolCalls.push({ ...call, name, ...(value === given ? {} : { arguments: JSON.stringify(value) }) })
  }
  if (toolCalls.length || !stopped) return { ...result, toolCalls }
  return withheld(run, result, stopped)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What an answer can be grounded in: the prompt, the conversation, memories, skills and tool results. */
const sourcesOf = ({ request, history, memories, active }: Run, { toolUses }: AgentResult): string[] => [
  request.prompt,
  ...history.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  ),
  ...memories,
  ...(active.prompt ? [active.prompt] : []),
  ...toolUses.map(({ result }) => (typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))),
]
