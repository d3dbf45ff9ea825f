import { RE2JS, RE2Set } from 're2js'
import { foldedGramsOf } from '../grams'
import { remember } from '../runs'
import type { TextSpan } from '../schema'
import { NotLinear, type Translated, translated } from './ecma'
import { offsetsWithout, withLinesMarked } from './ecma-lines'
import { hasNeeds, needsNothing, needsOf, wordsNeeded } from './needs'
import { patternSize } from './size'

/** The cache of a compiled pattern, such as the states of its automaton, which may be dropped at any time. */
type PatternCache = {
  /** Its current size in bytes. */
  weight(): number
  forget(): void
}

/** Estimated size of the bookkeeping for one cache. */
const ENTRY_BYTES = 256

/** Bounds the caches of all patterns in this process. */
const patternCaches = createPatternCaches(24 * 1024 * 1024)

/*
 * The only file that uses private parts of `re2js`: its public API bounds the memory of a set's states, but neither
 * reports nor releases the used memory. tests/text/re2.test.ts fails when a release changes these parts.
 */
type Parts = {
  regexps: unknown[]
  prog: { inst: readonly { runes?: readonly number[] | null }[]; numInst(): number }
  dfa: { memBudget: number; clearCache(): void }
}

/** Maximum bytes of states that one pattern may cache. Random text would otherwise create megabytes. */
const MAX_MEMORY = 256 * 1024

export const partsOf = (set: RE2Set): Parts => set as unknown as Parts

/** Bytes of the states cached so far. */
export const usedBy = ({ dfa }: Parts): number => MAX_MEMORY - dfa.memBudget

const BASE_BYTES = 4_096

const STEP_BYTES = 400

const RANGE_BYTES = 8

/** A tenant's pattern on RE2, in time linear in the text. The runtime's own engine backtracks (docs/design.md 1.9). */
export type LinearPattern = {
  test(text: string): boolean
  /** The matches, from left to right, in UTF-16 offsets. Omits empty matches. */
  find(text: string): Generator<{ start: number; end: number }>
  /** Number of instructions of its program. Multiplied by the length of a text, it bounds the cost of one test. */
  readonly steps: number
  /** The pattern's length with counted repeats written out. */
  readonly size: number
  /** Memory in bytes, without its {@link PatternCache}. */
  readonly weight: number
}

type Options = {
  /** ECMAScript flags except `g`, `d` and `y`, which do not change what matches. */
  flags?: string
  maxChars: number
  maxSize: number
  /** Whether property classes count with their compilation cost. For patterns compiled on the event loop. */
  weighsProperties?: boolean
}

/**
 * Compiles a pattern within these limits, in a few milliseconds at most. It keeps its ECMAScript meaning ({@link
 * translated}).
 * @throws NotLinear, and Error for an invalid or too large pattern. Messages are half a sentence (`is longer than …`)
 */
export function compileLinear(
  source: string,
  { flags = '', maxChars, maxSize, weighsProperties = false }: Options,
): LinearPattern {
  if (source.length > maxChars) throw new Error(`is longer than ${maxChars} characters`)
  const size = patternSize(source, weighsProperties ? PROPERTY_SIZE : 1)
  const max = maxSize - (weighsProperties ? PROPERTY_START * (source.match(/\\p/gi)?.length ?? 0) : 0)
  // Property classes lower the permitted size of a pattern, even below zero.
  if (size > max)
    throw new Error(
      max <= 0
        ? 'has more classes such as \\p{L} than this server runs'
        : `is too large: with what repeats written out it comes to ${size} characters and classes, and at most ${max} are run`,
    )
  const expression = translated(source, flags)
  const engine = openRe2(expression.source)
  const read = readingOf(expression)
  const mayBe = mayBeIn(source)
  return {
    size,
    weight: engine.weight,
    steps: engine.steps,
    test: (text) => mayBe(text) && engine.test(read(text)),
    *find(text) {
      if (!mayBe(text)) return
      const asRead = read(text)
      // Testing is much faster than finding the spans.
      if (!engine.test(asRead)) return
      const spans = engine.find(asRead)
      yield* expression.isOfLines ? unmarked(spans, asRead) : spans
    },
  }
}

/** Number of patterns that search a text for their words before its n-grams are computed for all further ones. */
const FIRST_LOOKS = 4
const looksAt = remember(() => ({ count: 0 }))

/** Whether a text contains what a pattern requires. Most patterns require a word that the text does not have. */
function mayBeIn(source: string): (text: string) => boolean {
  const needs = needsOf({ source, ignoreCase: true })
  if (needsNothing(needs)) return () => true
  const words = wordsNeeded({ source, ignoreCase: true })
  // The long s and the Kelvin sign match `s` and `k` in the engine, so a text with them is not ruled out.
  const any = words && new RegExp([...words.map((word) => RegExp.escape(word)), '[\\u017f\\u212a]'].join('|'), 'i')
  return (text) => (any && looksAt(text).count++ < FIRST_LOOKS ? any.test(text) : hasNeeds(needs, foldedGramsOf(text)))
}

/** Prepares a text for a translated expression. */
const readingOf =
  ({ isOfLines, foldsWords }: Translated) =>
  (text: string): string => {
    const plain = foldsWords ? text.replaceAll('\u017f', 's').replaceAll('\u212a', 'k') : text
    return isOfLines ? withLinesMarked(plain) : plain
  }

function* unmarked(spans: Iterable<TextSpan>, marked: string): Generator<TextSpan> {
  const offsetOf = offsetsWithout(marked)
  for (const { start, end } of spans) yield { start: offsetOf(start), end: offsetOf(end) }
}

/** Size of a property class (`\p{L}`): for each occurrence in the expanded pattern, and for each in the source. */
const PROPERTY_SIZE = 10
const PROPERTY_START = 20

/**
 * Compiles an RE2 expression. `find` needs a second program, which is compiled on first use. `steps` is the number of
 * instructions of its program, `weight` its memory in bytes without its cache.
 * @throws NotLinear
 */
export function openRe2(source: string) {
  const tester = compiled(source)
  const parts = partsOf(tester)
  // Approximate bytes: the steps of the program, and the characters of each step.
  const weight = parts.prog.inst.reduce(
    (sum, { runes }) => sum + STEP_BYTES + RANGE_BYTES * (runes?.length ?? 0),
    BASE_BYTES,
  )
  const key = {}
  let finder: RE2JS | undefined
  const cache: PatternCache = {
    weight: () => usedBy(parts) + (finder ? 2 * weight : 0),
    forget() {
      parts.dfa.clearCache()
      finder = undefined
    },
  }
  return {
    weight,
    steps: parts.prog.numInst(),
    test(text: string): boolean {
      const isIn = tester.match(text).length > 0
      patternCaches.used(key, cache)
      return isIn
    },
    find(text: string): Generator<TextSpan> {
      finder ??= RE2JS.compile(source)
      patternCaches.used(key, cache)
      return matches(finder, text)
    },
  }
}

/** A set of one pattern, because only a set's memory can be bounded. */
export function compiled(source: string): RE2Set {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, MAX_MEMORY)
    set.add(source)
    set.compile()
    // The parsed expressions are not used after compiling.
    partsOf(set).regexps = []
    return set
  } catch (error) {
    throw new NotLinear((error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120))
  }
}

function* matches(expression: RE2JS, text: string): Generator<TextSpan> {
  const matcher = expression.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) yield { start: matcher.start(), end: matcher.end() }
}

/**
 * Bounds the total memory of all pattern caches. The least recently used patterns drop their caches first. Caches are
 * referenced weakly, so that patterns can still be garbage collected.
 */
export function createPatternCaches(maxBytes: number) {
  const known = new Map<object, { of: WeakRef<PatternCache>; weight: number }>()
  let total = 0

  return {
    /** Call this after each use. `key` must not outlive the pattern. */
    used(key: object, cache: PatternCache): void {
      const before = known.get(key)
      const weight = ENTRY_BYTES + cache.weight()
      total += weight - (before?.weight ?? 0)
      known.delete(key)
      known.set(key, before ? Object.assign(before, { weight }) : { of: new WeakRef(cache), weight })
      if (total > maxBytes) makeRoom()
    },
    weight: (): number => total,
  }

  function makeRoom(): void {
    for (const [key, { of, weight }] of known) {
      if (total <= maxBytes) return
      of.deref()?.forget()
      known.delete(key)
      total -= weight
    }
  }
}
