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
  const bare = asBare(source)
  const properties = bare.match(/\\[pP]/g)?.length ?? 0
  const mostSize = MAX_SIZE - properties * PROPERTY_SIZE
  try {
    return compileLinear(bare, { mostChars: 2 * LIMITS.patternChars, mostSize, ignoreCase: true })
  } catch (error) {
    throw new PatternRefused((error as Error).message)
  }
}

/**
 * The same pattern in the syntax both engines share. Throws PatternRefused on what ECMAScript refuses: first with
 * the flag `u`, where properties and code points mean what they say, then as browsers read sloppy patterns.
 */
function asBare(source: string): string {
  if (source.length > LIMITS.patternChars) {
    throw new PatternRefused(`has ${source.length} characters; at most ${LIMITS.patternChars} are allowed`)
  }
  if (isExpression(source, 'iu')) return source
  try {
    new RegExp(source, 'i')
  } catch (error) {
    throw new PatternRefused(`is no regular expression: ${(error as Error).message.slice(0, 120)}`)
  }
  return strictly(source)
}

function isExpression(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}

/** Escapes that stand for their letter in sloppy patterns, and for something else in RE2. */
const SLOPPY = /\\([ACEGLMNOQTUXYZaeghijlmoqyz])/g
const OPEN_IN_CLASS = /(?<!\\)(\[\^?(?:[^\]\\]|\\.)*?)\[(?=[:=.])/g

const strictly = (source: string): string => source.replace(SLOPPY, '$1').replace(OPEN_IN_CLASS, '$1\\[')
