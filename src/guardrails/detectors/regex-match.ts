import { compileLinear, type LinearPattern } from '../../kernel/linear-pattern'
import { t } from '../../kernel/schema'
import { defineGuardrail, type Inspect, InvalidConfig, type Match, TooSlow } from '../guardrail'

const MOST_CHARS = 512
/** With counts written out; one look at four thousand characters then takes milliseconds at the very most. */
const MOST_SIZE = 1_000
/** Finding every place can look at the rest of a text once for each; a text that asks for more is one match. */
const MOST_MS = 1_000
/** On the event loop: all looks together, and the steps of one. */
const MOST_MS_INLINE = 5
const MOST_STEPS_INLINE = 200_000

export const regexMatch = defineGuardrail({
  id: 'regex_match',
  description: 'Texts in which a pattern of yours matches (ECMAScript, without look-around and back-references)',
  phases: ['input', 'output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    {
      pattern: t.String({ minLength: 1, maxLength: MOST_CHARS }),
      flags: t.Optional(t.String({ maxLength: 8, description: 'Any of g, i, m, s, u, v' })),
    },
    { additionalProperties: false },
  ),
  prepare({ pattern, flags = '' }) {
    const compiled = compile(pattern, flags)
    const inspect: Inspect = (text, { patient = false }) => {
      if (!patient && compiled.steps * text.length > MOST_STEPS_INLINE) throw new TooSlow()
      const { matches, isCut } = find(compiled, text, patient ? MOST_MS : MOST_MS_INLINE)
      if (isCut && !patient) throw new TooSlow()
      if (isCut) return { detail: 'matches the pattern more often than can be counted', matches: [] }
      return matches.length ? { detail: `matches the pattern (${matches.length})`, matches } : null
    }
    return Object.assign(inspect, { weight: compiled.weight })
  },
})

function compile(pattern: string, flags: string): LinearPattern {
  const unknown = /[^gimsuv]/.exec(flags)?.[0]
  if (unknown) throw new InvalidConfig(`flags holds "${unknown}"; allowed are g, i, m, s, u and v`)
  const how = { mostChars: MOST_CHARS, mostSize: MOST_SIZE, weighsProperties: true }
  try {
    return compileLinear(pattern, { ...how, flags: flags.replace('g', '') })
  } catch (error) {
    throw new InvalidConfig(`pattern ${(error as Error).message}`)
  }
}

function find(pattern: LinearPattern, text: string, mostMs: number): { matches: Match[]; isCut: boolean } {
  const matches: Match[] = []
  const until = performance.now() + mostMs
  for (const place of pattern.find(text)) {
    matches.push({ ...place, kind: 'regex_match' })
    if (performance.now() > until) return { matches, isCut: true }
  }
  return { matches, isCut: false }
}
