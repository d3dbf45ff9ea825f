import { LRUCache } from 'lru-cache'
import { compileLinear } from '../../kernel/linear-pattern'
import { spend } from './fuel'

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

/** A stranger's pattern. Throws a sentence on what RE2 cannot do and on what is too large. */
export function readPattern(source: string): Pattern {
  const known = kept.get(source)
  if (known) return known
  const linear = compileLinear(source, { mostChars: MAX_PATTERN_CHARS, mostSize: MAX_PATTERN_SIZE })
  const made: Pattern = {
    size: linear.size,
    test(text) {
      spend(STEPS_TO_BEGIN + (text.length * linear.steps) / 4)
      return linear.test(text)
    },
    // The validator keeps patterns apart by how they print.
    toString: () => `/${source}/u`,
  }
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
