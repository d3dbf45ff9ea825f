import { iso } from '../kernel/clock'
import type { StoredAnswer } from './cache'
import { firedIn } from './rules'
import type { Opened, Result } from './run'
import { type ChatCompletion, type Completion, chatIdOf, type FinishReason } from './schema'

/** The native answer (contract 2.2). */
export function toCompletion(run: Opened, { answer, usage, conversationId }: Result): Completion {
  return {
    id: answer.id,
    object: 'completion',
    created: iso(answer.createdAt),
    content: answer.content,
    mode: run.ask.mode,
    resolved_mode: answer.resolvedMode,
    model: answer.model,
    tools_used: answer.toolsUsed,
    artifacts: answer.artifacts,
    follow_ups: answer.followUps,
    usage,
    metadata: run.ask.metadata,
    conversation_id: conversationId,
    request_id: run.call.requestId,
    ...(usage.cached ? { _cached: true as const } : {}),
    ...extrasOf(answer, run),
  }
}

/** Members that only some answers have; the `done` frame of a stream has them too. */
export function extrasOf(answer: StoredAnswer, run: Opened) {
  return {
    routing: answer.routing,
    ...(answer.resolvedMode === 'genui' ? { genui_code: answer.content } : {}),
    ...(answer.structuredOutput ? { structured_output: answer.structuredOutput } : {}),
    ...(answer.skillsActive.length ? { skills_active: answer.skillsActive } : {}),
    ...guardrailsOf(run, answer),
    ...warningsOf(run, answer),
  }
}

const guardrailsOf = (run: Opened, answer: StoredAnswer) => {
  const guardrails = firedIn(run, answer)
  return guardrails.length ? { guardrails } : {}
}

/** What the request gave rise to comes first; a cached answer may have been made for another request. */
function warningsOf({ ask }: Opened, { finish, warnings }: StoredAnswer) {
  const cut = finish === 'length' && ask.cache !== 'off' ? ['The answer was cut off at the output limit.'] : []
  const all = [...ask.warnings, ...warnings, ...cut]
  return all.length ? { warnings: all } : {}
}

const FINISH: Record<StoredAnswer['finish'], FinishReason> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

export const finishReason = (answer: StoredAnswer): FinishReason => FINISH[answer.finish]

/** The chat-completions answer (contract 4). */
export function toChatCompletion(run: Opened, result: Result): ChatCompletion {
  const { answer, usage } = result
  const { cost_cents: _, ...counted } = usage
  return {
    id: chatIdOf(answer.id),
    object: 'chat.completion',
    created: Math.floor(answer.createdAt / 1000),
    model: answer.model.id,
    choices: [{ index: 0, message: messageOf(answer), finish_reason: finishReason(answer) }],
    usage: counted,
    svc_metadata: chatMetadata(run, result),
    request_id: run.call.requestId,
    ...(usage.cached ? { _cached: true as const } : {}),
  }
}

/** The assistant message: a refusal, calls of the client's functions, or plain content without further members. */
function messageOf({ content, toolCalls, refusal }: StoredAnswer): ChatCompletion['choices'][number]['message'] {
  if (refusal !== null) return { role: 'assistant', content: null, refusal }
  if (!toolCalls.length) return { role: 'assistant', content }
  return { role: 'assistant', content: content || null, tool_calls: toolCalls.map(toFunctionCall) }
}

/** A call as chat clients read it. */
export const toFunctionCall = ({ id, name, arguments: args }: StoredAnswer['toolCalls'][number]) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args },
})

export const chatMetadata = (
  run: Opened,
  { answer, usage, conversationId }: Result,
): ChatCompletion['svc_metadata'] => ({
  mode: run.ask.mode,
  resolved_mode: answer.resolvedMode,
  tools_used: answer.toolsUsed,
  artifacts: answer.artifacts,
  engine: answer.model.engine,
  cost_cents: usage.cost_cents,
  conversation_id: conversationId,
  ...(answer.followUps.length ? { follow_ups: answer.followUps } : {}),
  routing: answer.routing,
  ...guardrailsOf(run, answer),
  ...warningsOf(run, answer),
})
