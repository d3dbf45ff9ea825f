import type { ToolCall } from '../../engines'
import { readBrowsing } from '../../text'
import type { Question } from '../question'
import { isFailed } from './findings'

/**
 * The next call of a browser tool for a request that asks for such in plain words, one a turn, so that each meets the
 * page that the one before left. None after a call that failed, and when all are done; null when the request asks for
 * anything else, or for a tool that is not offered.
 */
export function browsingCall({ tools, choice, prompt, findings }: Question): ToolCall[] | null {
  if (choice === 'none' || !tools.some(({ name }) => name.startsWith('browser_'))) return null
  const asks = readBrowsing(prompt)
  if (!asks?.every(({ tool }) => tools.some(({ name }) => name === tool))) return null
  const next = asks[findings.length]
  const last = findings.at(-1)
  if (!next || (last && isFailed(last))) return []
  return [{ id: `call_${findings.length + 1}`, name: next.tool, arguments: JSON.stringify(next.arguments) }]
}
