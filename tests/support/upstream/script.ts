import type { ScriptedAnswer } from './dialect'

/** What a prompt asks of the scripted upstream: `[[name]]` or `[[name:value]]`, anywhere in the last user message. */
export type Script = Map<string, string>

export const readScript = (prompt: string): Script =>
  new Map([...prompt.matchAll(/\[\[([a-z0-9-]+)(?::([^\]]*))?\]\]/g)].map(([, name, value]) => [name!, value ?? '']))

const DEFAULT_TEXT = 'Hello from the scripted upstream.'

const LIES: Record<string, ScriptedAnswer['usage']> = {
  negative: { prompt_tokens: -5, completion_tokens: -1_000 },
  missing: null,
  string: { prompt_tokens: '7', completion_tokens: 'many' },
  huge: { prompt_tokens: 1e18, completion_tokens: 1e18 },
  nan: { prompt_tokens: null, completion_tokens: null },
  fraction: { prompt_tokens: 1.5, completion_tokens: 2.25 },
  zero: { prompt_tokens: 0, completion_tokens: 0 },
}

export const LIE_NAMES = Object.keys(LIES)

/** The answer a script asks for; words make the text as long as wanted. */
export function answerOf(script: Script, fallbackText = DEFAULT_TEXT): ScriptedAnswer {
  const words = Number(script.get('tokens') ?? 0)
  const text = script.get('say') ?? (words ? Array.from({ length: words }, () => 'word').join(' ') : fallbackText)
  const tool = script.get('tool')
  const lie = script.get('lies')
  const counted = { prompt_tokens: 11, completion_tokens: Math.max(1, text.split(' ').length) }
  return {
    text,
    finish: tool ? 'tool_calls' : ((script.get('finish') as ScriptedAnswer['finish'] | undefined) ?? 'stop'),
    usage: lie === undefined ? counted : (LIES[lie || 'negative'] ?? null),
    toolCalls: tool ? [{ id: 'call_1', name: tool, arguments: '{"q":"x"}' }] : [],
  }
}

/** The status a script asks for, `[[500]]` or `[[429:7]]`, with its `Retry-After`. */
export function refusalOf(script: Script, callsBefore: number): { status: number; retryAfter: string } | null {
  const failing = Number(script.get('fail') ?? 0)
  if (callsBefore < failing) return { status: 503, retryAfter: '' }
  for (const [name, value] of script) {
    if (/^[345]\d\d$/.test(name)) return { status: Number(name), retryAfter: value }
  }
  return null
}
