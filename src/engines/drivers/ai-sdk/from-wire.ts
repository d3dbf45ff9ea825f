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
} from '../../engine'
import { argumentsOf, finishWith } from '../calls'

/** One part of a vendor stream as ours: often nothing, and both usage and finish at the end. Throws on an error part. */
export function readPart(part: LanguageModelV4StreamPart): EnginePart[] {
  switch (part.type) {
    case 'text-delta':
      return part.delta ? [{ type: 'text-delta', text: part.delta }] : []
    case 'tool-call':
      return [{ type: 'tool-call', ...toCall(part) }]
    case 'finish':
      return [
        { type: 'usage', ...readUsage(part.usage) },
        { type: 'finish', reason: readFinish(part.finishReason) },
      ]
    case 'error':
      throw explainVendorError(part.error)
    default:
      return []
  }
}

export function readResult({ content, finishReason, usage }: LanguageModelV4GenerateResult): EngineAnswer {
  const toolCalls = content.flatMap((part) => (part.type === 'tool-call' ? [toCall(part)] : []))
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls,
    finish: finishWith(readFinish(finishReason), toolCalls),
    usage: readUsage(usage),
  }
}

const toCall = ({ toolCallId, toolName, input }: LanguageModelV4ToolCall): ToolCall => ({
  id: toolCallId,
  name: toolName,
  arguments: argumentsOf(input),
})

const readUsage = ({ inputTokens, outputTokens }: LanguageModelV4Usage): StatedUsage => ({
  promptTokens: inputTokens.total,
  completionTokens: outputTokens.total,
})

/** Throws `truncated` when the stream ended without the vendor giving any reason, `server` when it says error. */
function readFinish({ unified, raw }: LanguageModelV4FinishReason): FinishReason {
  if (unified === 'error') throw new EngineFailure('server', 'the upstream ended its answer with an error')
  if (unified === 'interrupted' || (unified === 'other' && raw === undefined)) {
    throw new EngineFailure('truncated', 'the answer ended before its finish')
  }
  return unified === 'other' ? 'stop' : unified
}

/** Errors that say the answer could not be understood; by name, because each package brings its own classes. */
const NOT_UNDERSTOOD = /JSONParse|TypeValidation|InvalidResponse|EmptyResponse|NoContentGenerated|APICallError/

/** What the vendor packages throw, and what their streams report. Their messages hold raw answers and are dropped. */
export function explainVendorError(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error
  const name = error instanceof Error ? error.name : ''
  if (NOT_UNDERSTOOD.test(name)) return new EngineFailure('malformed', 'the answer could not be understood')
  if (/LoadAPIKey|InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel/.test(name)) {
    return new EngineFailure('config', `the vendor package refused the request (${name})`)
  }
  if (name.startsWith('AI_') || !(error instanceof Error)) {
    return new EngineFailure('server', 'the upstream reported an error in its answer')
  }
  return new EngineFailure('refused', 'no connection to the upstream, or it broke off', { cause: error })
}
