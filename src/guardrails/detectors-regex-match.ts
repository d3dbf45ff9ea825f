import { quoted } from '../kernel/errors'
import { t } from '../kernel/schema'
import { compileLinear, type LinearPattern } from '../text'
import { defineGuardrail, type Inspect, InvalidConfig, type Match, TooSlow } from './guardrail'

const MAX_CHARS = 512
/**
 * With repetition counts written out. The worst pattern of this size takes half a second for four thousand characters,
 * an ordinary one a few milliseconds for a hundred thousand; the event loop has {@link MAX_STEPS_INLINE}.
 */
const MAX_SIZE = 1_000
/** Each match may read the rest of the text again. A text with too many for this time is one match as a whole. */
const MAX_MS = 500
/** The same on the event loop, and for counting matches that are not redacted. */
const MAX_MS_INLINE = 5
/** What one text may take on the event loop: about five milliseconds. */
const MAX_STEPS_INLINE = 200_000

export const regexMatch = defineGuardrail({
  id: 'regex_match',
  description: 'Texts that match your regular expression (ECMAScript without look-around and back-references)',
  phases: ['input', 'output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    {
      pattern: t.String({ minLength: 1, maxLength: MAX_CHARS }),
      flags: t.Optional(t.String({ maxLength: 8, description: 'Any of g, i, m, s, u, v' })),
    },
    { additionalProperties: false },
  ),
  prepare({ pattern, flags = '' }, verdict = 'redact') {
    const compiled = compile(pattern, flags)
    const isCounted = verdict !== 'redact'
    const inspect: Inspect = (text, { patient = false }) => {
      const isLarge = compiled.steps * text.length > MAX_STEPS_INLINE
      if (isLarge && !patient) throw new TooSlow()
      // Whether it matches is known much sooner than where.
      if (isLarge && isCounted) return compiled.test(text) ? { detail: 'matches the pattern', matches: [] } : null
      const { matches, isCut } = find(compiled, text, patient && !isCounted ? MAX_MS : MAX_MS_INLINE)
      if (isCut && isCounted) return { detail: `matches the pattern (${matches.length} or more)`, matches }
      if (isCut && !patient) throw new TooSlow()
      if (isCut) return { detail: 'matches the pattern more often than can be counted', matches: [] }
      if (matches.length) return { detail: `matches the pattern (${matches.length})`, matches }
      // A match of no characters has no place to show, and it is a match all the same.
      return compiled.test(text) ? { detail: 'matches the pattern', matches: [] } : null
    }
    return Object.assign(inspect, { weight: compiled.weight })
  },
})

function compile(pattern: string, flags: string): LinearPattern {
  const wrong = (what: string) => new InvalidConfig('flags', `is "${quoted(flags)}"; ${what}`)
  if (/[^gimsuv]/.test(flags)) throw wrong('the allowed flags are g, i, m, s, u and v')
  if (new Set(flags).size < flags.length) throw wrong('each letter may occur only once')
  if (flags.includes('u') && flags.includes('v')) throw wrong('u and v cannot be combined, leave one of them out')
  const how = { maxChars: MAX_CHARS, maxSize: MAX_SIZE, weighsProperties: true }
  try {
    return compileLinear(pattern, { ...how, flags: flags.replace('g', '') })
  } catch (error) {
    throw new InvalidConfig('pattern', `is "${quoted(pattern)}" and ${(error as Error).message}`)
  }
}

function find(pattern: LinearPattern, text: string, maxMs: number): { matches: Match[]; isCut: boolean } {
  const matches: Match[] = []
  const until = performance.now() + maxMs
  for (const place of pattern.find(text)) {
    matches.push({ ...place, kind: 'regex_match' })
    if (performance.now() > until) return { matches, isCut: true }
  }
  return { matches, isCut: false }
}
