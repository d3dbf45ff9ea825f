import type { ScriptedAnswer } from './dialect'

/** Instructions in the last user message: `[[name]]` or `[[name:value]]`, anywhere in the text. */
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

/**
 * The scripted answer of one turn; `[[tokens:n]]` sets the length of the text. A plan lists the calls of each turn,
 * `[[plan:search{"q":"a"};fetch{}|search{"q":"b"}]]`, and the text follows after the last one. `[[always]]` repeats the
 * last turn forever; `[[while:text]]` adds text to the calls.
 */
export function answerOf(script: Script, fallbackText = DEFAULT_TEXT, turn = 0): ScriptedAnswer {
  const words = Number(script.get('tokens') ?? 0)
  const text = script.get('say') ?? (words ? Array.from({ length: words }, () => 'word').join(' ') : fallbackText)
  const calls = callsOf(script, turn)
  const lie = script.get('lies')
  const thoughts = script.get('think')
  const cached = script.get('cached')
  const counted = {
    prompt_tokens: 11,
    completion_tokens: Math.max(1, text.split(' ').length),
    ...(cached && { prompt_tokens_details: { cached_tokens: Number(cached) } }),
    ...(thoughts && { completion_tokens_details: { reasoning_tokens: 1 } }),
  }
  return {
    text: calls.length ? (script.get('while') ?? '') : text,
    finish: calls.length ? 'tool_calls' : ((script.get('finish') as ScriptedAnswer['finish'] | undefined) ?? 'stop'),
    usage: lie === undefined ? counted : (LIES[lie || 'negative'] ?? null),
    toolCalls: calls,
    thoughts,
  }
}

function callsOf(script: Script, turn: number): ScriptedAnswer['toolCalls'] {
  const tool = script.get('tool')
  if (tool) return [{ id: 'call_1', name: tool, arguments: '{"q":"x"}' }]
  const turns = script.get('plan')?.split('|') ?? []
  const calls = turns[turn] ?? (script.has('always') ? turns.at(-1) : '')
  return (calls?.split(';') ?? []).filter(Boolean).map((call, place) => {
    const at = call.indexOf('{')
    const [name, args] = at < 0 ? [call, '{}'] : [call.slice(0, at), call.slice(at)]
    // The same ids in every turn, because an upstream may repeat ids.
    return { id: `call_${place + 1}`, name: name.trim(), arguments: args }
  })
}

/** The error status a script asks for, `[[500]]` or `[[429:7]]`, with its `Retry-After`. */
export function refusalOf(script: Script, callsBefore: number): { status: number; retryAfter: string } | null {
  const failing = Number(script.get('fail') ?? 0)
  if (callsBefore < failing) return { status: 503, retryAfter: '' }
  for (const [name, value] of script) {
    if (/^[345]\d\d$/.test(name)) return { status: Number(name), retryAfter: value }
  }
  return null
}
