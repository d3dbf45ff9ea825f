import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { spend } from './fuel'
import { patternSize } from './pattern-size'

export type Pattern = {
  test(text: string): boolean
  toString(): string
  /** How much of a request's allowance it takes. */
  readonly size: number
}

const MAX_PATTERN_CHARS = 1_000
const MAX_PATTERN_SIZE = 1_500
const MAX_KEPT = 500

/** What a look at a stranger's text costs before its first character, in steps of fuel. */
const STEPS_TO_BEGIN = 100

const kept = new LRUCache<string, Pattern>({ max: MAX_KEPT })

/**
 * A stranger's pattern on RE2, in time linear in the text: the runtime's own engine backtracks and then
 * answers wrongly (design 9). Throws a sentence on what RE2 cannot do and on what is too large.
 */
export function readPattern(source: string): Pattern {
  const known = kept.get(source)
  if (known) return known
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`is longer than ${MAX_PATTERN_CHARS} characters`)
  const size = patternSize(source)
  if (size > MAX_PATTERN_SIZE) throw new Error('repeats more than this server runs')
  const made = toPattern(source, compile(source), size)
  kept.set(source, made)
  return made
}

/** How much of an allowance a pattern takes. Throws a sentence on one that is refused. */
export type SizeOf = (source: string) => number

/** For patterns that others will run: any that is one, look-around and all. Nothing is matched with it here. */
export const sizeIfWritten: SizeOf = (source) => {
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`is longer than ${MAX_PATTERN_CHARS} characters`)
  try {
    new RegExp(source)
    return source.length
  } catch (error) {
    throw new Error(`is no regular expression: ${(error as Error).message.slice(0, 120)}`)
  }
}

function toPattern(source: string, expression: RE2JS, size: number): Pattern {
  const steps = expression.programSize() / 4
  return {
    size,
    test(text) {
      spend(STEPS_TO_BEGIN + text.length * steps)
      return expression.test(text)
    },
    // The validator keeps patterns apart by how they print.
    toString: () => `/${source}/u`,
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (error) {
    throw new Error(
      `is not a pattern this server runs (RE2 syntax, without look-around and back-references): ${reason(error)}`,
    )
  }
}

const reason = (error: unknown): string => (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120)
