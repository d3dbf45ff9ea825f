import { LRUCache } from 'lru-cache'
import { compileLinear, demandsOf } from '../text'

export type Pattern = {
  test(text: string): boolean
  toString(): string
  /** Size counted against the request's pattern allowance. */
  readonly size: number
}

const MAX_PATTERN_CHARS = 1_000
const MAX_PATTERN_SIZE = 1_500
const MAX_STORED = 500

/** Fixed cost of one match in fuel steps, before the first character. */
const STEPS_TO_BEGIN = 100

const stored = new LRUCache<string, Pattern>({ max: MAX_STORED })

/**
 * Compiles an untrusted pattern with RE2. Look-aheads at its start run as separate patterns. Throws a sentence when RE2
 * cannot run the pattern or it is too large.
 */
export function readPattern(source: string): Pattern {
  const known = stored.get(source)
  if (known) return known
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`is longer than ${MAX_PATTERN_CHARS} characters`)
  // The parts of a look-ahead are a few characters longer than the look-ahead itself, hence the larger bound.
  const demands = demandsOf(source).map((demand) => ({
    ...demand,
    linear: compileLinear(demand.source, { maxChars: MAX_PATTERN_CHARS + 10, maxSize: MAX_PATTERN_SIZE }),
  }))
  const steps = demands.reduce((sum, { linear }) => sum + linear.steps, 0)
  const made: Pattern = {
    size: demands.reduce((sum, { linear }) => sum + linear.size, 0),
    test(text) {
      spend(STEPS_TO_BEGIN + (text.length * steps) / 4)
      return demands.every(({ linear, isMet }) => linear.test(text) === isMet)
    },
    // Ajv distinguishes patterns by their string form.
    toString: () => `/${source}/u`,
  }
  stored.set(source, made)
  return made
}

/** Size of a pattern counted against the allowance. Throws a sentence when the pattern is rejected. */
export type SizeOf = (source: string) => number

/** For patterns that run elsewhere: any valid JavaScript pattern. It is compiled here, but never matched. */
export const sizeIfWritten: SizeOf = (source) => {
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`is longer than ${MAX_PATTERN_CHARS} characters`)
  try {
    new RegExp(source)
    return source.length
  } catch (error) {
    throw new Error(`is not a regular expression: ${(error as Error).message.slice(0, 120)}`)
  }
}

/** Maximum number of steps of one check: about 50 ns each, a tenth of a second in total. */
const STEPS = 2_000_000

/** A check exceeded its budget: exponential self-references, or a pattern over a long text (docs/attacks.md B31). */
export class OutOfFuel extends Error {
  override name = 'OutOfFuel'
}

let remaining = 0

/** A check is synchronous, so all checks share one counter, which is reset when each begins. */
export const refuel = (): void => {
  remaining = STEPS
}

/** Steps since the last `refuel`. */
export const spent = (): number => STEPS - remaining

/** @throws OutOfFuel */
export function spend(steps: number): void {
  remaining -= steps
  if (remaining < 0) throw new OutOfFuel()
}
