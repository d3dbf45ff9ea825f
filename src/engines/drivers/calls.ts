import { EngineFailure, type FinishReason, type ToolCall } from '../engine'

/** Arguments as JSON text. Blank text becomes `{}`, because readers parse it. */
export const argumentsOf = (text: string): string => (text.trim() === '' ? '{}' : text)

/** Arguments that an upstream accepts in a history: vendors refuse anything but a JSON object. */
export function argumentsForHistory(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/** Words of upstreams for the end of an answer, in lower case without `_`, `-` and blanks. */
const FINISHES = new Map<string, FinishReason>([
  ...['stop', 'endturn', 'end', 'eos', 'eostoken', 'stopsequence', 'stoptoken', 'complete', 'completed', 'done'].map(
    (word) => [word, 'stop'] as const,
  ),
  ...['length', 'maxtokens', 'maxoutputtokens', 'maxlength', 'modellength', 'modelcontextwindowexceeded'].map(
    (word) => [word, 'length'] as const,
  ),
  ...['toolcalls', 'toolcall', 'tooluse', 'functioncall'].map((word) => [word, 'tool-calls'] as const),
  ...['contentfilter', 'safety', 'refusal', 'sensitive', 'recitation', 'blocklist', 'prohibitedcontent', 'spii'].map(
    (word) => [word, 'content-filter'] as const,
  ),
])

/**
 * What a finish word of an upstream means. Throws `truncated` for one that is unknown or tells of a failure: such an
 * answer is not whole (contract 22.3).
 */
export function finishOf(word: string): FinishReason {
  const known = FINISHES.get(word.toLowerCase().replace(/[_\s-]/g, ''))
  if (known) return known
  throw new EngineFailure('truncated', `the upstream ended its answer with "${word.slice(0, 40)}"`)
}

/** Makes the finish reason fit the calls: some upstreams report `stop` beside a call they were forced to make. */
export function finishWith(reason: FinishReason, calls: readonly ToolCall[]): FinishReason {
  if (reason === 'stop' && calls.length) return 'tool-calls'
  return reason === 'tool-calls' && !calls.length ? 'stop' : reason
}
