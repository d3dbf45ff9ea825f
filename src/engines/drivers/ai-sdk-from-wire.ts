import type {
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
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

/** Translates the parts of a vendor stream one by one: most to none, `finish` to usage and finish. Throws on errors. */
export function createPartReader(isBlocked: () => boolean) {
  const places = new Map<string, { place: number; name: string }>()

  return (part: LanguageModelV4StreamPart): EnginePart[] => {
    switch (part.type) {
      case 'text-delta':
        return part.delta ? [{ type: 'text', text: part.delta }] : []
      case 'reasoning-delta':
        return part.delta ? [{ type: 'reasoning', text: part.delta }] : []
      case 'tool-input-start':
        places.set(part.id, { place: places.size, name: part.toolName })
        return [{ type: 'call-delta', ...places.get(part.id)!, arguments: '' }]
      case 'tool-input-delta': {
        const at = places.get(part.id)
        return at ? [{ type: 'call-delta', ...at, arguments: part.delta }] : []
      }
      case 'tool-call':
        return [{ type: 'tool-call', ...toCall(part) }]
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
  const toolCalls = content.flatMap((part) => (part.type === 'tool-call' ? [toCall(part)] : []))
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

/** Throws `truncated` when the answer ended without a reason, or with one that is unknown, `server` for an error. */
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
