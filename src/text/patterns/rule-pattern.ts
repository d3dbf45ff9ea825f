import { MAX_PATTERN_CHARS } from '../schema'
import type { Expression } from './backtracking'
import { NotLinear } from './ecma'
import { compileLinear } from './linear'
import { patternSize } from './size'

/** Maximum size of a pattern with counts written out. Bounds the time to compile it and to test a character. */
const MAX_SIZE = 1_000

/** A pattern that cannot be a rule. The message continues a sentence that begins with the member's name. */
export class PatternRefused extends Error {
  override name = 'PatternRefused'
}

export type RulePattern = {
  /** Throws for a backtracking pattern, which must run in a process as {@link backtrackingExpression}. */
  test(text: string): boolean
  /** Maximum steps of one test per character of a text. Infinite for a pattern that must backtrack. */
  steps: number
  /** The pattern's length with repetition counts written out. */
  size: number
  /** Bytes in memory. */
  weight: number
}

/**
 * Compiles the pattern of a rule: ECMAScript source, case-insensitive (docs/api.md 13). Uses RE2 if RE2 accepts the
 * pattern. Any other pattern has infinite steps and may only run in a process (docs/design.md 1.9).
 * @throws PatternRefused
 */
export function compilePattern(source: string): RulePattern {
  if (source.length > MAX_PATTERN_CHARS) {
    throw new PatternRefused(`has ${source.length} characters; at most ${MAX_PATTERN_CHARS} are allowed`)
  }
  try {
    const bounds = { maxChars: MAX_PATTERN_CHARS, maxSize: MAX_SIZE, weighsProperties: true }
    return compileLinear(source, { ...bounds, flags: 'i' })
  } catch (error) {
    if (error instanceof NotLinear) {
      const test = () => {
        throw new Error('A pattern that has to backtrack was asked on the event loop.')
      }
      return { size: patternSize(source), weight: 0, steps: Number.POSITIVE_INFINITY, test }
    }
    throw new PatternRefused((error as Error).message)
  }
}

/** The pattern for the backtracking engine, with flag `u`, which enables `\p{…}`, unless the flag makes it invalid. */
export const backtrackingExpression = (source: string): Expression => ({
  source,
  flags: isStrict(source) ? 'iu' : 'i',
})

function isStrict(source: string): boolean {
  try {
    new RegExp(source, 'iu')
    return true
  } catch {
    return false
  }
}
