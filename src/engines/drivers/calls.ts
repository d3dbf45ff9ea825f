import type { FinishReason, ToolCall } from '../engine'

/** Arguments as JSON text: whoever calls without any says so in many ways, and readers of ours parse them. */
export const argumentsOf = (text: string): string => (text.trim() === '' ? '{}' : text)

/** What an answer with these calls ended for: some upstreams say `stop` beside a call they were made to make. */
export function finishWith(reason: FinishReason, calls: readonly ToolCall[]): FinishReason {
  if (reason === 'stop' && calls.length) return 'tool-calls'
  return reason === 'tool-calls' && !calls.length ? 'stop' : reason
}
