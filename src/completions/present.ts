import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { centsToMicro, microToCents } from '../kernel/money'
import { shorten } from '../kernel/text'
import type { KeptTool } from '../usage/schema'
import { type SpokenTurn, type ToolUse, TURN_GAP } from './agent-schema'
import type { StoredAnswer } from './cache'
import { inputOf } from './chat-schema'
import { firedIn } from './rules'
import type { Run } from './run'
import type {
  ChatCompletion,
  ChatCompletionId,
  Completion,
  CompletionId,
  FinishReason,
  SkillActive,
  Usage,
} from './schema'

/** The id that chat clients see. It differs from the completion id only in its prefix. */
export const chatIdOf = (id: CompletionId): ChatCompletionId => `chat${id}` as ChatCompletionId

/** The content of an answer with these turns. */
export const contentOf = (spoken: readonly SpokenTurn[]): string =>
  spoken.flatMap(({ text }) => text || []).join(TURN_GAP)

/** The steps of an answer, turn by turn: the tools that ran before the turn, its reasoning and its text. */
export function turnsOf({ spoken, toolsUsed, reasoning, content }: StoredAnswer) {
  if (!spoken && !toolsUsed.length) return [{ reasoning, text: content, tools: toolsUsed }]
  const turns = spoken ?? [
    { uses: 0, reasoning, text: '' },
    { uses: toolsUsed.length, reasoning: '', text: content },
  ]
  return [...turns, { uses: toolsUsed.length, reasoning: '', text: '' }].map(({ uses, ...turn }, at) => ({
    ...turn,
    tools: toolsUsed.slice(turns[at - 1]?.uses ?? 0, uses),
  }))
}

/** The native answer (docs/api.md 2.2). */
export function toCompletion(run: Run, answer: StoredAnswer): Completion {
  return {
    id: answer.id,
    object: 'completion',
    created: iso(answer.createdAt),
    content: answer.content,
    mode: run.request.mode,
    resolved_mode: answer.resolvedMode,
    model: answer.model,
    tools_used: answer.toolsUsed,
    artifacts: answer.artifacts,
    follow_ups: answer.followUps,
    usage: usageOf(run, answer),
    metadata: run.request.metadata,
    conversation_id: run.conversationId,
    request_id: run.call.requestId,
    ...(run.isCached ? { _cached: true as const } : {}),
    ...extrasOf(answer, run),
  }
}

/** The charges of the run and its tools, in cents. Tools are charged by themselves, with their own usage rows. */
const costOf = ({ costMicro, isCached }: Run, { toolCents }: StoredAnswer): number =>
  isCached ? microToCents(costMicro) : microToCents(costMicro + centsToMicro(toolCents))

/** The tokens of an answer, and the charge of this run. */
export const usageOf = (run: Run, answer: StoredAnswer): Usage => ({
  cost_cents: costOf(run, answer),
  ...tokensOf(run, answer),
})

function tokensOf({ isCached }: Run, { promptTokens, completionTokens }: StoredAnswer): Omit<Usage, 'cost_cents'> {
  const tokens = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  return isCached ? { ...tokens, cached: true } : tokens
}

/** Tokens with their details, in the chat format (docs/api.md 33.4). */
export const chatUsage = (run: Run, answer: StoredAnswer): ChatCompletion['usage'] =>
  Object.assign(tokensOf(run, answer), {
    prompt_tokens_details: { cached_tokens: answer.cachedTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoningTokens ?? 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  })

export const activeSkills = ({ active }: Run): SkillActive[] => active.skills.map(({ version: _, ...skill }) => skill)

/** Members that only some answers have. The `done` frame of a stream has them too. */
export function extrasOf(answer: StoredAnswer, run: Run) {
  return {
    routing: answer.routing,
    ...(answer.resolvedMode === 'genui' ? { genui_code: answer.content } : {}),
    ...(answer.structuredOutput ? { structured_output: answer.structuredOutput } : {}),
    ...(answer.job ? { job: answer.job } : {}),
    ...(answer.skillsActive.length ? { skills_active: answer.skillsActive } : {}),
    ...guardrailsOf(run, answer),
    ...warningsOf(run, answer),
  }
}

const NOTHING = {}

const guardrailsOf = (run: Run, answer: StoredAnswer) => {
  const guardrails = firedIn(run, answer)
  return guardrails.length ? { guardrails: [...guardrails] } : NOTHING
}

/** Warnings of this request come first. A cached answer may have been made for another request. */
function warningsOf({ request }: Run, { finish, warnings }: StoredAnswer) {
  const isCut = finish === 'length' && request.cache !== 'off'
  if (!isCut && !request.warnings.length && !warnings.length) return NOTHING
  return {
    warnings: [...request.warnings, ...warnings, ...(isCut ? ['The answer was cut off at the output limit.'] : [])],
  }
}

const FINISH: Record<StoredAnswer['finish'], FinishReason> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

export const finishReason = (answer: StoredAnswer, { callsFunction }: Run['request']): FinishReason =>
  callsFunction && answer.finish === 'tool-calls' ? 'function_call' : FINISH[answer.finish]

/** The chat-completions answer (docs/api.md 4). */
export function toChatCompletion(run: Run, answer: StoredAnswer): ChatCompletion {
  const message = messageOf(answer, run.request)
  const finish_reason = finishReason(answer, run.request)
  const logprobs = run.request.sampling?.logprobs === undefined ? undefined : likelyOf(answer.logprobs)
  const completion: ChatCompletion = {
    id: chatIdOf(answer.id),
    object: 'chat.completion',
    created: Math.floor(answer.createdAt / 1000),
    model: answer.model.id,
    choices: [
      logprobs === undefined ? { index: 0, message, finish_reason } : { index: 0, message, logprobs, finish_reason },
    ],
    usage: chatUsage(run, answer),
    service_tier: 'default',
    system_fingerprint: fingerprintOf(answer),
    svc_metadata: chatMetadata(run, answer),
    request_id: run.call.requestId,
  }
  if (run.isCached) completion._cached = true
  return completion
}

/** Log probabilities of an answer's tokens, in the chat format. Null if the engine does not report them. */
export const likelyOf = (logprobs: StoredAnswer['logprobs']) =>
  logprobs?.length ? { content: [...logprobs], refusal: null } : null

/** The build of the upstream, hashed, because it would reveal the vendor. */
export const fingerprintOf = ({ fingerprint }: Pick<StoredAnswer, 'fingerprint'>): string | null =>
  fingerprint ? `fp_${sha256Hex(fingerprint).slice(0, 12)}` : null

/** The assistant message: a refusal, calls of the client's functions, or plain content, each with its reasoning. */
function messageOf(
  answer: StoredAnswer,
  { reasoning: wish, customs, callsFunction }: Run['request'],
): ChatCompletion['choices'][number]['message'] {
  const { content, reasoning, toolCalls, refusal } = answer
  const thoughts = reasoning && wish?.shows !== false ? { reasoning_content: reasoning, reasoning } : null
  if (!toolCalls.length && refusal === null && !thoughts) return { role: 'assistant', content }
  if (refusal !== null) return { role: 'assistant', content: null, refusal, ...thoughts }
  if (!toolCalls.length) return { role: 'assistant', content, ...thoughts }
  const [{ name, arguments: args }] = toolCalls as [(typeof toolCalls)[number]]
  const older = { function_call: { name, arguments: args } }
  if (callsFunction) return { role: 'assistant', content: content || null, ...older, ...thoughts }
  return {
    role: 'assistant',
    content: content || null,
    tool_calls: toolCalls.map((call) => toSentCall(call, customs)),
    ...thoughts,
  }
}

/**
 * A call in the chat format. `extra_content` holds data that the engine needs back with the call. Clients return it
 * with the message. It is encoded, because it would reveal the vendor.
 */
export function toSentCall(
  { id, name, arguments: args, extra }: StoredAnswer['toolCalls'][number],
  customs: Run['request']['customs'],
) {
  const called = customs?.has(name)
    ? { type: 'custom' as const, custom: { name, input: inputOf(args) } }
    : { type: 'function' as const, function: { name, arguments: args } }
  const content = extra ? { extra_content: { svc: Buffer.from(JSON.stringify(extra)).toString('base64url') } } : {}
  return { id, ...called, ...content }
}

export const chatMetadata = (run: Run, answer: StoredAnswer): ChatCompletion['svc_metadata'] => ({
  mode: run.request.mode,
  resolved_mode: answer.resolvedMode,
  tools_used: answer.toolsUsed,
  artifacts: answer.artifacts,
  engine: answer.model.engine,
  cost_cents: costOf(run, answer),
  conversation_id: run.conversationId,
  ...(answer.followUps.length ? { follow_ups: answer.followUps } : NOTHING),
  routing: answer.routing,
  ...(answer.job ? { job: answer.job } : NOTHING),
  ...guardrailsOf(run, answer),
  ...warningsOf(run, answer),
})

/** Maximum length of the stored texts of a tool call's arguments and result, in characters. */
const MAX_TOOL_CHARS = 2_000

/** A tool call as stored with the request: what the caller saw of it, with each text cut. */
export function keptTool({ spent, startedAt }: Run, use: ToolUse): KeptTool {
  const took = spent.timings?.get(use)
  return {
    ...{ name: use.name, status: use.status, description: use.description },
    at_ms: took ? Math.round(took.from - startedAt) : null,
    ms: took ? Math.round(took.ms) : null,
    arguments: shorten(JSON.stringify(use.arguments), MAX_TOOL_CHARS),
    result: shorten(typeof use.result === 'string' ? use.result : (JSON.stringify(use.result) ?? ''), MAX_TOOL_CHARS),
  }
}
