import { sharedSyntax } from '../kernel/ecma-pattern'
import { compileLinear, NotLinear } from '../kernel/linear-pattern'
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
  test(text: string): boolean
  /** What one test can cost for each character of a text; infinite where the runtime's own engine has to backtrack. */
  steps: number
  /** Its length with counts written out. */
  size: number
}

/**
 * Compiles the pattern of a rule: ECMAScript source, matched in any case (contract 13). On RE2 wherever RE2 takes it;
 * a pattern of infinite steps is for a thread that can be ended (design 9).
 * @throws PatternRefused
 */
export function compilePattern(source: string): RulePattern {
  if (source.length > LIMITS.patternChars) {
    throw new PatternRefused(`has ${source.length} characters; at most ${LIMITS.patternChars} are allowed`)
  }
  try {
    const bare = sharedSyntax(source, 'i')
    const bounds = { mostChars: 2 * LIMITS.patternChars, mostSize: MAX_SIZE, weighsProperties: true }
    return compileLinear(bare, { ...bounds, ignoreCase: true })
  } catch (error) {
    if (error instanceof NotLinear) return backtracking(source)
    throw new PatternRefused((error as Error).message)
  }
}

/** As the runtime reads it: with `u`, where properties mean what they say, unless it is too sloppy for that. */
function backtracking(source: string): RulePattern {
  const expression = isStrict(source) ? new RegExp(source, 'iu') : new RegExp(source, 'i')
  return { size: patternSize(source), steps: Number.POSITIVE_INFINITY, test: (text) => expression.test(text) }
}

function isStrict(source: string): boolean {
  try {
    new RegExp(source, 'iu')
    return true
  } catch {
    return false
  }
}
