import type { FinishReason, ToolCall } from '../engine'

/** Arguments as JSON text. Blank text becomes `{}`, because readers parse it. */
export const argumentsOf = (text: string): string => (text.trim() === '' ? '{}' : text)

/** Makes the finish reason fit the calls: some upstreams report `stop` beside a call they were forced to make. */
export function finishWith(reason: FinishReason, calls: readonly ToolCall[]): FinishReason {
  if (reason === 'stop' && calls.length) return 'tool-calls'
  return reason === 'tool-calls' && !calls.length ? 'stop' : reason
}
