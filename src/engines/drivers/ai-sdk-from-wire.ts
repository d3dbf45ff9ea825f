import type {
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import {
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type FinishReason,
  type StatedUsage,
  type ToolCall,
} from '../engine'
import { argumentsOf, finishOf, finishWith } from './compat-body'
import { thoughtsIn, withThoughts } from './upstream'

/**
 * Translates the parts of a vendor stream. `finish` becomes usage and finish; many parts become nothing. Throws on
 * errors.
 */
export function createPartReader(isBlocked: () => boolean) {
  const places = new Map<string, { place: number; name: string }>()
  /** Thoughts that belong to the next calls. */
  let thoughts = new Map<string, Thought>()

  return (part: LanguageModelV4StreamPart): EnginePart[] => {
    switch (part.type) {
      case 'text-delta':
        return part.delta ? [{ type: 'text', text: part.delta }] : []
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const before = thoughts.get(part.id) ?? { text: '' }
        const delta = part.type === 'reasoning-delta' ? part.delta : ''
        thoughts.set(part.id, { text: before.text + delta, ...joined(before.options, part.providerMetadata) })
        return delta ? [{ type: 'reasoning', text: delta }] : []
      }
      case 'tool-input-start':
        places.set(part.id, { place: places.size, name: part.toolName })
        return [{ type: 'call-delta', ...places.get(part.id)!, arguments: '' }]
      case 'tool-input-delta': {
        const at = places.get(part.id)
        return at ? [{ type: 'call-delta', ...at, arguments: part.delta }] : []
      }
      case 'tool-call': {
        // A call that the vendor itself has run.
        if (part.providerExecuted) return []
        const [call] = withThoughts([toCall(part)], signed(thoughts.values()))
        thoughts = new Map()
        return [{ type: 'tool-call', ...call! }]
      }
      case 'finish':
        return [
          { type: 'usage', ...readUsage(part.usage) },
          { type: 'finish', reason: readFinish(part.finishReason, isBlocked()) },
        ]
      case 'error':
        throw explainVendorError(part.error)
      default:
        return []
    }
  }
}

export function readResult(
  { content, finishReason, usage }: LanguageModelV4GenerateResult,
  isBlocked: boolean,
): EngineAnswer {
  const calls = content.flatMap((part) => (part.type === 'tool-call' && !part.providerExecuted ? [toCall(part)] : []))
  const thoughts = content.flatMap((part) =>
    part.type === 'reasoning' ? [{ text: part.text, ...joined(undefined, part.providerMetadata) }] : [],
  )
  const toolCalls = withThoughts(calls, signed(thoughts))
  const textOf = (type: 'text' | 'reasoning') =>
    content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
  return {
    text: textOf('text'),
    reasoning: textOf('reasoning'),
    refusal: '',
    toolCalls,
    finish: finishWith(readFinish(finishReason, isBlocked), toolCalls),
    usage: readUsage(usage),
  }
}

/** A reasoning part of a vendor. `options` holds its signature or stored id. */
type Thought = { text: string; options?: SharedV4ProviderMetadata }

const joined = (
  one: SharedV4ProviderMetadata | undefined,
  other: SharedV4ProviderMetadata | undefined,
): Pick<Thought, 'options'> => {
  const names = Object.keys({ ...one, ...other })
  return names.length
    ? { options: Object.fromEntries(names.map((name) => [name, { ...one?.[name], ...other?.[name] }])) }
    : {}
}

/** The thoughts that a client returned with a call, in the format of the vendor packages. */
export const thoughtParts = (call: ToolCall): LanguageModelV4ReasoningPart[] =>
  (thoughtsIn(call).thoughts as Thought[]).map(({ text, options }) => ({
    type: 'reasoning',
    text: String(text ?? ''),
    ...(options ? { providerOptions: options } : {}),
  }))

/** Keeps only thoughts with a signature or id, because vendors reject others. */
const signed = (thoughts: Iterable<Thought>): Thought[] => [...thoughts].filter(({ options }) => options)

const toCall = ({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ToolCall => ({
  id: toolCallId,
  name: toolName,
  arguments: argumentsOf(input),
  ...(providerMetadata ? { extra: providerMetadata } : {}),
})

const readUsage = ({ inputTokens, outputTokens }: LanguageModelV4Usage): StatedUsage => ({
  promptTokens: inputTokens.total,
  completionTokens: outputTokens.total,
  cachedTokens: inputTokens.cacheRead,
  cacheWriteTokens: inputTokens.cacheWrite,
  reasoningTokens: outputTokens.reasoning,
})

/** Throws `truncated` when the finish reason is missing or unknown, `server` for an error. */
function readFinish({ unified, raw }: LanguageModelV4FinishReason, isBlocked: boolean): FinishReason {
  if (isBlocked) return 'content-filter'
  if (unified === 'error') throw new EngineFailure('server', 'the upstream ended its answer with an error')
  if (unified === 'interrupted' || (unified === 'other' && raw === undefined)) {
    throw new EngineFailure('truncated', 'the answer ended before its finish')
  }
  return unified === 'other' ? finishOf(raw!) : unified
}

/** Names of errors about an unreadable answer; matched by name, because each package has its own classes. */
const NOT_UNDERSTOOD = /JSONParse|TypeValidation|InvalidResponse|EmptyResponse|NoContentGenerated|APICallError/

/** Translates an error that a vendor package throws or streams. Drops its message, which may quote the raw answer. */
export function explainVendorError(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error
  const name = error instanceof Error ? error.name : ''
  if (NOT_UNDERSTOOD.test(name)) return new EngineFailure('malformed', 'the answer could not be understood')
  const refused = `the vendor package refused the request (${name})`
  if (/LoadAPIKey|NoSuchModel/.test(name)) return new EngineFailure('config', refused)
  if (/InvalidPrompt|InvalidArgument|UnsupportedFunctionality/.test(name)) {
    const about = { part: 'request', sent: null, max: null } as const
    return new EngineFailure('rejected', refused, { rejection: { about, words: (error as Error).message } })
  }
  if (name.startsWith('AI_') || !(error instanceof Error)) {
    return new EngineFailure('server', 'the upstream reported an error in its answer')
  }
  return new EngineFailure('refused', 'no connection to the upstream, or it broke off', { cause: error })
}
