import { sharedSyntax } from '../kernel/ecma-pattern'
import { compileLinear, type LinearPattern } from '../kernel/linear-pattern'
import { LIMITS } from './schema'

/** Larger when written out is refused: with it, one test of {@link HEAD_CHARS} stays within what a thread may be held. */
const MAX_SIZE = 1_000
/** A class of letters by property is hundreds of ranges. */
const PROPERTY_SIZE = 20

/** Only so much of a prompt is matched (catalogue K7). */
export const HEAD_CHARS = 8_192

/** A pattern that cannot be a rule; the message goes on after the name of the member. */
export class PatternRefused extends Error {
  override name = 'PatternRefused'
}

/**
 * Compiles the pattern of a rule: ECMAScript source, matched in any case (contract 13).
 * @throws PatternRefused
 */
export function compilePattern(source: string): LinearPattern {
  if (source.length > LIMITS.patternChars) {
    throw new PatternRefused(`has ${source.length} characters; at most ${LIMITS.patternChars} are allowed`)
  }
  try {
    const bare = sharedSyntax(source, 'i')
    const properties = bare.match(/\\[pP]/g)?.length ?? 0
    const mostSize = MAX_SIZE - properties * PROPERTY_SIZE
    return compileLinear(bare, { mostChars: 2 * LIMITS.patternChars, mostSize, ignoreCase: true })
  } catch (error) {
    throw new PatternRefused((error as Error).message)
  }
}
