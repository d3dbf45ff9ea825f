import { foldedGramsOf } from '../grams'
import { remember } from '../remember'
import type { TextSpan } from '../span'
import { type Translated, translated } from './ecma'
import { offsetsWithout, withLinesMarked } from './ecma-lines'
import { hasNeeds, needsNothing, needsOf, wordsNeeded } from './needs'
import { openRe2 } from './re2'
import { patternSize } from './size'

/** A tenant's pattern on RE2, whose time is linear in the text; the runtime's own engine backtracks (design 1.9). */
export type LinearPattern = {
  test(text: string): boolean
  /** Where it matches, from left to right, in UTF-16 offsets; empty matches are left out. */
  find(text: string): Generator<{ start: number; end: number }>
  /** Instructions of its program: times the length of a text, the most that one test can cost. */
  readonly steps: number
  /** The pattern's length with counted repeats written out. */
  readonly size: number
  /** Bytes it keeps in memory, without its {@link PatternCache}. */
  readonly weight: number
}

type Options = {
  /** ECMAScript flags but `g`, `d` and `y`, which do not change what matches. */
  flags?: string
  mostChars: number
  mostSize: number
  /** Whether property classes count for what they cost to compile: for patterns compiled on the event loop. */
  weighsProperties?: boolean
}

/**
 * Compiles a pattern within these limits, in a few milliseconds at most. It means what it means in ECMAScript
 * ({@link translated}).
 * @throws NotLinear, and Error for an invalid or too large pattern; messages are half a sentence (`is longer than …`)
 */
export function compileLinear(
  source: string,
  { flags = '', mostChars, mostSize, weighsProperties = false }: Options,
): LinearPattern {
  if (source.length > mostChars) throw new Error(`is longer than ${mostChars} characters`)
  const size = patternSize(source, weighsProperties ? PROPERTY_SIZE : 1)
  const most = mostSize - (weighsProperties ? PROPERTY_START * propertiesIn(source) : 0)
  if (size > most) throw new Error(tooLarge(size, most))
  const expression = translated(source, flags)
  const engine = openRe2(expression.source)
  const read = readingOf(expression)
  const mayBe = mayBeIn(MISREAD.test(source) ? '' : source)
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

/** How many patterns search a text for their words before its n-grams are read for all further ones. */
const FIRST_LOOKS = 4
const looksAt = remember(() => ({ count: 0 }))

/** Whether a text has what a pattern needs: most patterns need a word that the text does not have. */
function mayBeIn(source: string): (text: string) => boolean {
  const needs = needsOf({ source, ignoreCase: true })
  if (needsNothing(needs)) return () => true
  const words = wordsNeeded({ source, ignoreCase: true })
  // The long s and the Kelvin sign match `s` and `k` in the engine, so a text with them is not ruled out.
  const any = words && new RegExp([...words.map((word) => RegExp.escape(word)), '[\\u017f\\u212a]'].join('|'), 'i')
  return (text) => (any && looksAt(text).count++ < FIRST_LOOKS ? any.test(text) : hasNeeds(needs, foldedGramsOf(text)))
}

/** Incomplete escapes, such as `\x4`: what such a pattern needs is not derived. */
const MISREAD = /\\(?:x(?![0-9a-f]{2})|u(?!\{|[0-9a-f]{4})|c(?![a-z]))/i

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

/** Size of a property class (`\p{L}`): for each time it stands in the expanded pattern, and for each it is written. */
const PROPERTY_SIZE = 10
const PROPERTY_START = 20
/** Property classes lower what a pattern may be in size, even below zero. */
const tooLarge = (size: number, most: number): string =>
  most <= 0
    ? 'has more classes such as \\p{L} than this server runs'
    : `is too large: with what repeats written out it comes to ${size} characters and classes, and at most ${most} are run`

const propertiesIn = (source: string): number => source.match(/\\p/gi)?.length ?? 0
