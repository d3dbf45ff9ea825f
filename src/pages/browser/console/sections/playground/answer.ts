import type { Completion } from '../../../../../completions/schema'
import { Failure } from '../../shell/api'
import type { Api, Call } from './apis'

type Tool = Completion['tools_used'][number] | { name: string; status: 'running'; description?: string }

/** An answer, complete or in progress. */
export type Answer = {
  text: string
  thoughts: string
  calls: readonly Call[]
  tools: readonly Tool[]
  /** Why the answer does not have the requested format. */
  refusal: string
  mode: string | null
  routing: Completion['routing'] | null
  isFinished: boolean
  tokens: { in: number; out: number } | null
  cost: number | null
  followUps: Completion['follow_ups']
  artifacts: Completion['artifacts']
  isCached: boolean
  warnings: readonly string[]
  /** The guardrails that fired. */
  guardrails: NonNullable<Completion['guardrails']>
}

export const NOTHING: Answer = {
  text: '',
  thoughts: '',
  calls: [],
  tools: [],
  refusal: '',
  mode: null,
  routing: null,
  isFinished: false,
  tokens: null,
  cost: null,
  followUps: [],
  artifacts: [],
  isCached: false,
  warnings: [],
  guardrails: [],
}

type Metadata = Partial<
  Pick<Completion, 'resolved_mode' | 'routing' | 'tools_used' | 'artifacts' | 'warnings' | 'guardrails'> & {
    cost_cents: number
  }
>
const ofMetadata = (it: Metadata | null | undefined): Partial<Answer> => ({
  ...(it?.resolved_mode ? { mode: it.resolved_mode } : {}),
  ...(it?.routing ? { routing: it.routing } : {}),
  ...(it?.tools_used ? { tools: it.tools_used } : {}),
  ...(it?.artifacts ? { artifacts: it.artifacts } : {}),
  ...(it?.cost_cents === undefined ? {} : { cost: it.cost_cents }),
  warnings: it?.warnings ?? [],
  guardrails: it?.guardrails ?? [],
})

/** Adds a call, or more of its arguments. */
const withCall = (calls: readonly Call[], at: number, { id, name, arguments: more = '' }: Partial<Call>): Call[] => {
  const now = calls[at] ?? { id: '', name: '', arguments: '' }
  const next = { id: id ?? now.id, name: name ?? now.name, arguments: now.arguments + more }
  return calls[at] ? calls.map((call, n) => (n === at ? next : call)) : [...calls, next]
}

/** Stream events name a tool when it starts and again when it ends. */
function withTool(tools: readonly Tool[], tool: Tool): Tool[] {
  const at = tools.findLastIndex(({ name, status }) => name === tool.name && status === 'running')
  return at < 0 ? [...tools, tool] : tools.with(at, tool)
}

// biome-ignore lint/suspicious/noExplicitAny: what an event holds depends on its name
type Read = (now: Answer, name: string, data: any) => Partial<Answer>

const READ: Record<Api, Read> = {
  completions(now, name, data) {
    if (name === 'meta') return { mode: data.resolved_mode, routing: data.routing }
    if (name === 'token') return { text: now.text + data.token }
    if (name === 'tool') return { tools: withTool(now.tools, data) }
    if (name !== 'done') return {}
    const { content, usage, follow_ups, artifacts, warnings = [], guardrails = [], _cached } = data
    return {
      text: content,
      isFinished: true,
      tokens: { in: usage.prompt_tokens, out: usage.completion_tokens },
      cost: usage.cost_cents,
      followUps: follow_ups,
      artifacts,
      isCached: _cached === true,
      warnings,
      guardrails,
    }
  },
  chat(now, _, { choices, usage, svc_metadata: metadata }) {
    const delta = choices?.[0]?.delta ?? {}
    return {
      text: now.text + (delta.content ?? ''),
      thoughts: now.thoughts + (delta.reasoning_content ?? ''),
      refusal: now.refusal + (delta.refusal ?? ''),
      calls: (delta.tool_calls ?? []).reduce(
        (calls: readonly Call[], part: { index: number; id?: string; function: Partial<Call> }) =>
          withCall(calls, part.index, { ...(part.id ? { id: part.id } : {}), ...part.function }),
        now.calls,
      ),
      ...(choices?.[0]?.finish_reason ? { isFinished: true } : {}),
      ...(metadata ? ofMetadata(metadata) : {}),
      ...(usage ? { tokens: { in: usage.prompt_tokens, out: usage.completion_tokens } } : {}),
    }
  },
  responses(now, name, data) {
    if (name === 'response.output_text.delta') return { text: now.text + data.delta }
    if (name === 'response.refusal.delta') return { refusal: now.refusal + data.delta }
    if (/^response\.reasoning\w*\.delta$/.test(name)) return { thoughts: now.thoughts + data.delta }
    if (name === 'response.output_item.done' && data.item.type === 'function_call') {
      const { call_id: id, name: called, arguments: given } = data.item
      return { calls: [...now.calls, { id, name: called, arguments: given }] }
    }
    if (name !== 'response.completed' && name !== 'response.incomplete') return {}
    const { usage, svc_metadata } = data.response
    return {
      isFinished: true,
      ...(usage ? { tokens: { in: usage.input_tokens, out: usage.output_tokens } } : {}),
      ...ofMetadata(svc_metadata),
    }
  },
  messages(now, name, data) {
    if (name === 'content_block_start' && data.content_block.type === 'tool_use')
      return { calls: withCall(now.calls, now.calls.length, data.content_block) }
    if (name === 'content_block_delta') {
      const { text, thinking, partial_json } = data.delta
      if (text !== undefined) return { text: now.text + text }
      if (thinking !== undefined) return { thoughts: now.thoughts + thinking }
      // Blocks arrive one after the other, so a piece belongs to the last call.
      if (partial_json !== undefined)
        return { calls: withCall(now.calls, now.calls.length - 1, { arguments: partial_json }) }
    }
    if (name !== 'message_delta') return {}
    const { usage, svc_metadata, delta } = data
    return {
      isFinished: true,
      tokens: { in: usage.input_tokens, out: usage.output_tokens },
      ...(delta.stop_reason === 'refusal' ? { refusal: 'The engine refused, or did not follow the format.' } : {}),
      ...ofMetadata(svc_metadata),
    }
  },
}

/** Parses a stream event into changes of its answer. Throws `Failure` for an error event. */
export function readEvent(api: Api, now: Answer, name: string, data: unknown): Partial<Answer> {
  type Refusal = { code?: string; message: string; details?: { error_code?: string } }
  const { error, response } = (data ?? {}) as { error?: Refusal; response?: { error?: Refusal | null } }
  const refusal = error ?? response?.error
  if (refusal) throw new Failure(503, refusal.code ?? refusal.details?.error_code ?? 'server_error', refusal.message)
  return READ[api](now, name, data)
}
