import { RE2JS, RE2Set } from 're2js'
import { hasNeeds, needsOf } from './expression-needs'
import { foldedGramsOf } from './grams'
import { patternSize } from './pattern-size'

/** A stranger's pattern on RE2, whose time is linear in the text: the runtime's own engine backtracks (design 9). */
export type LinearPattern = {
  test(text: string): boolean
  /** Where it matches, from left to right, in UTF-16 units; what is empty is left out. */
  find(text: string): Generator<{ start: number; end: number }>
  /** Steps of its program; times the length of a text, the most that one test can cost. */
  readonly steps: number
  /** Its length with counts written out. */
  readonly size: number
}

const NOT_RUN = 'is not a pattern this server runs (RE2 syntax, without look-around and back-references)'

/** RE2 cannot run it, however small: look-around, back-references and the like. */
export class NotLinear extends Error {
  override name = 'NotLinear'
}

type Options = {
  mostChars: number
  mostSize: number
  /** Whether classes of letters by property weigh what they cost: for patterns that are compiled on the event loop. */
  weighsProperties?: boolean
} & Flags
type Flags = { ignoreCase?: boolean; multiline?: boolean; dotAll?: boolean }

/**
 * Compiles what is known to be small enough, which costs a few milliseconds at most.
 * @throws NotLinear, and Error for what is too large, both with half a sentence (`repeats more than …`)
 */
export function compileLinear(source: string, { mostChars, mostSize, ...how }: Options): LinearPattern {
  if (source.length > mostChars) throw new Error(`is longer than ${mostChars} characters`)
  const size = patternSize(source, how.weighsProperties ? PROPERTY_SIZE : 1)
  if (size > mostSize - (how.weighsProperties ? PROPERTY_START * propertiesIn(source) : 0))
    throw new Error('repeats more than this server runs')
  const flags = flagsOf(how)
  const tester = compiled(source, flags)
  let finder: RE2JS | undefined
  const needs = needsOf({ source, ignoreCase: true })
  // Many patterns are tried on a text one after another; most of them ask for a word that it does not have.
  const test = (text: string): boolean => hasNeeds(needs, foldedGramsOf(text)) && tester.match(text).length > 0
  return {
    size,
    steps: tester.prog.numInst(),
    test,
    *find(text) {
      // Whether there is one is known much sooner than where.
      if (!test(text)) return
      finder ??= RE2JS.compile(RE2JS.translateRegExp(source), flags)
      yield* matches(finder, text)
    },
  }
}

/** What a pattern may keep of the texts it was tried on, in bytes: noise would make it grow to megabytes. */
const MOST_MEMORY = 256 * 1024

/** What a class by property counts for each time it stands there, and once for each time it is written. */
const PROPERTY_SIZE = 10
const PROPERTY_START = 20
const propertiesIn = (source: string): number => source.match(/\\p/gi)?.length ?? 0

const flagsOf = ({ ignoreCase, multiline, dotAll }: Flags): number =>
  (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0) | (dotAll ? RE2JS.DOTALL : 0)

function* matches(expression: RE2JS, text: string): Generator<{ start: number; end: number }> {
  const matcher = expression.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) yield { start: matcher.start(), end: matcher.end() }
}

/** What refers back to a group; the translation into RE2's syntax would take it for letters. */
const REFERS_BACK = /(?<!\\)(?:\\\\)*\\(?:k<|[1-9])/

/** As a set of one, for only a set's memory can be bounded. */
function compiled(source: string, flags: number): RE2Set {
  if (REFERS_BACK.test(source)) throw new NotLinear(`${NOT_RUN}: it refers back to a group`)
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, flags, MOST_MEMORY)
    set.add(RE2JS.translateRegExp(source))
    set.compile()
    return set
  } catch (error) {
    throw new NotLinear(`${NOT_RUN}: ${reason(error)}`)
  }
}

const reason = (error: unknown): string => (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120)
