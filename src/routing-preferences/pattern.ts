import type { Expression } from '../kernel/backtracking'
import { NotLinear } from '../kernel/ecma-pattern'
import { compileLinear } from '../kernel/linear-pattern'
import { patternSize } from '../kernel/pattern-size'
import { LIMITS } from './schema'

/** Larger when written out is refused: with it, one test of {@link HEAD_CHARS} stays within what a thread may be held. */
const MAX_SIZE = 1_000

/** Only so much of a prompt is matched (catalogue K7). */
export const HEAD_CHARS = 8_192

/** A pattern that cannot be a rule; the message goes on after the name of the member. */
export class PatternRefused extends Error {
  override name = 'PatternRefused'
}

export type RulePattern = {
  /** Throws for one that has to backtrack: {@link backtrackingExpression} on a thread is for those. */
  test(text: string): boolean
  /** What one test can cost for each character of a text; infinite where the runtime's own engine has to backtrack. */
  steps: number
  /** Its length with counts written out. */
  size: number
  /** What it keeps in memory, in bytes. */
  weight: number
}

/**
 * Compiles the pattern of a rule: ECMAScript source, matched in any case (contract 13). On RE2 wherever RE2 takes it;
 * a pattern of infinite steps is for a thread beside the event loop (design 9).
 * @throws PatternRefused
 */
export function compilePattern(source: string): RulePattern {
  if (source.length > LIMITS.patternChars) {
    throw new PatternRefused(`has ${source.length} characters; at most ${LIMITS.patternChars} are allowed`)
  }
  try {
    const bounds = { mostChars: LIMITS.patternChars, mostSize: MAX_SIZE, weighsProperties: true }
    return compileLinear(source, { ...bounds, flags: 'i' })
  } catch (error) {
    if (error instanceof NotLinear) return backtracking(source)
    throw new PatternRefused((error as Error).message)
  }
}

function backtracking(source: string): RulePattern {
  const test = () => {
    throw new Error('A pattern that has to backtrack was asked on the event loop.')
  }
  return { size: patternSize(source), weight: 0, steps: Number.POSITIVE_INFINITY, test }
}

/** As browsers read it: with `u`, where properties mean what they say, unless it is too sloppy for that. */
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
