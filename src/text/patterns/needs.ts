import type { AST } from '@eslint-community/regexpp'
import { type Grams, gramsOfWord } from '../grams'
import { parsePattern } from './ecma'

/**
 * What a text must contain for an expression to match. Derived from the expression's syntax as in RE2's filters:
 * literal words, all of those in a sequence and one of those in an alternation.
 */
type Need =
  | { kind: 'nothing' }
  | { kind: 'word'; text: string; grams: readonly number[] }
  | { kind: 'all' | 'one'; of: readonly Need[]; words: number }

/**
 * A need compiled to steps of three numbers: the n-gram to look up, the next step if the text has it, and the next step
 * if not. Every text is checked for a hundred rules, and walking a tree takes several times as long.
 */
export type Needs = { steps: Int32Array; start: number }
const HAS = -1
const LACKS = -2

/** What a part of an expression matches: exactly these strings or, if null, any text with the needs. */
type Part = { strings: readonly string[] | null; needs: Need }

const NOTHING: Need = { kind: 'nothing' }
const EMPTY: Part = { strings: [''], needs: NOTHING }
const ANYTHING: Part = { strings: null, needs: NOTHING }
/** Maximum number of strings that are combined with the following ones, because more words rule out little more. */
const MAX_STRINGS = 24
const MAX_OF_A_CLASS = 4

/**
 * What a text must contain for an ECMAScript expression. With `ignoreCase` it is checked against the folded n-grams of
 * a text. An invalid expression needs nothing.
 */
export const needsOf = (expression: Expression): Needs => needsOfEach([expression])[0]!

type Expression = { source: string; ignoreCase: boolean }

/** Searching for more words than this takes longer than computing the n-grams of a text. */
const MAX_WORDS = 8

/** Every text that an expression matches contains one of these words, in any case. Null for none or too many. */
export function wordsNeeded({ source, ignoreCase }: Expression): readonly string[] | null {
  const words = namedIn(needOf(source, ignoreCase))
  return words && words.length <= MAX_WORDS ? words : null
}

function namedIn(need: Need): readonly string[] | null {
  if (need.kind === 'nothing') return null
  if (need.kind === 'word') return [need.text]
  const each = need.of.map(namedIn)
  if (need.kind === 'one') return each.some((words) => !words) ? null : each.flatMap((words) => words!)
  return each.filter((words) => words !== null).sort(byUse)[0] ?? null
}

/** Sorts lists of words: fewest words first, then longest words. */
const byUse = (a: readonly string[], b: readonly string[]): number =>
  a.length - b.length || shortestOf(b) - shortestOf(a)
const shortestOf = (words: readonly string[]): number => Math.min(...words.map(({ length }) => length))

/** The needs of expressions that are checked one after another. They share one array of steps. */
export function needsOfEach(expressions: readonly Expression[]): Needs[] {
  const all: number[] = []
  const starts = expressions.map(({ source, ignoreCase }) => addSteps(needOf(source, ignoreCase), HAS, LACKS, all))
  const steps = Int32Array.from(all)
  return starts.map((start) => ({ steps, start }))
}

function needOf(source: string, ignoreCase: boolean): Need {
  try {
    // These mean the same with and without the flag `u` ({@link translated}).
    const { alternatives } = parsePattern(source, { unicode: /\\[pPu]\{/.test(source) })
    return needsOfPart(alternation(alternatives, ignoreCase))
  } catch {
    return NOTHING
  }
}

/** Appends the steps that check a need, the last one first, and returns the index of the first one. */
function addSteps(need: Need, has: number, lacks: number, steps: number[]): number {
  if (need.kind === 'nothing') return has
  if (need.kind === 'word') {
    return need.grams.reduceRight((next, gram) => steps.push(gram, next, lacks) - 3, has)
  }
  return need.kind === 'all'
    ? need.of.reduceRight((next, one) => addSteps(one, next, lacks, steps), has)
    : need.of.reduceRight((next, one) => addSteps(one, has, next, steps), lacks)
}

/**
 * Whether a text with these n-grams has what is needed, in the parts from `since` on. May give false positives, but no
 * false negatives.
 */
export function hasNeeds({ steps, start }: Needs, grams: Grams, since = 1): boolean {
  let at = start
  while (at >= 0) at = steps[grams[steps[at]!]! >= since ? at + 1 : at + 2]!
  return at === HAS
}

export const needsNothing = ({ start }: Needs): boolean => start === HAS

function alternation(alternatives: readonly AST.Alternative[], ignoreCase: boolean): Part {
  const options = alternatives.map((one) => sequence(one, ignoreCase))
  if (options.length === 1) return options[0]!
  if (options.every((one) => one.strings)) return { strings: options.flatMap((one) => one.strings!), needs: NOTHING }
  return { strings: null, needs: oneOf(options.map(needsOfPart)) }
}

function sequence({ elements }: AST.Alternative, ignoreCase: boolean): Part {
  const needs: Need[] = []
  let strings: readonly string[] | null = ['']
  let isWhole = true
  const close = () => {
    if (strings) needs.push(needsOfPart({ strings, needs: NOTHING }))
    strings = null
  }
  for (const element of elements) {
    const part = partOf(element, ignoreCase)
    if (!part.strings) {
      close()
      needs.push(part.needs)
      isWhole = false
    } else if (strings && (part.strings.length === 1 || strings.length * part.strings.length <= MAX_STRINGS)) {
      const [only] = part.strings
      strings =
        part.strings.length === 1
          ? strings.map((one) => one + only)
          : strings.flatMap((one) => part.strings!.map((next) => one + next))
    } else {
      if (strings) isWhole = false
      close()
      strings = part.strings
    }
  }
  if (isWhole) return { strings, needs: NOTHING }
  close()
  return { strings: null, needs: allOf(needs) }
}

function partOf(element: AST.Element | AST.CharacterClassElement, ignoreCase: boolean): Part {
  switch (element.type) {
    case 'Character': {
      const { raw, value } = element
      // Escapes of letters and digits, halves of surrogate pairs and, if case is ignored, non-ASCII characters need nothing.
      const isHalf = value > 0xffff || (value >= 0xd800 && value < 0xe000)
      const isOpen = isHalf || (ignoreCase && value > 0x7f) || (raw.length > 1 && /^\\(?!u)[a-zA-Z\d]/.test(raw))
      const sign = isOpen ? '' : String.fromCharCode(value)
      return sign ? { strings: [ignoreCase ? sign.toLowerCase() : sign], needs: NOTHING } : ANYTHING
    }
    case 'Group':
      // A group with its own flags may treat case differently.
      return element.modifiers ? ANYTHING : alternation(element.alternatives, ignoreCase)
    case 'CapturingGroup':
      return alternation(element.alternatives, ignoreCase)
    // An optional part needs nothing, a repeated part needs the same as a single one.
    case 'Quantifier': {
      const { min, max } = element
      const part = partOf(element.element, ignoreCase)
      if (min > 0) return max === 1 ? part : { strings: null, needs: needsOfPart(part) }
      return max === 1 && part.strings ? { ...part, strings: [...new Set(['', ...part.strings])] } : ANYTHING
    }
    // Lookarounds match no characters, and their requirements are not used.
    case 'Assertion':
      return EMPTY
    case 'CharacterClass': {
      const { elements, negate } = element
      const each = negate || elements.length > MAX_OF_A_CLASS ? [] : elements.map((one) => partOf(one, ignoreCase))
      const strings = each.flatMap((part) => part.strings ?? [])
      return strings.length && strings.length === each.length ? { strings, needs: NOTHING } : ANYTHING
    }
    default:
      return ANYTHING
  }
}

function needsOfPart({ strings, needs }: Part): Need {
  if (!strings) return needs
  return oneOf(shortest(strings).map((text) => (text ? { kind: 'word', text, grams: gramsOfWord(text) } : NOTHING)))
}

/** Drops words that begin with another of the words, because a text that has them has the shorter one, too. */
function shortest(words: readonly string[]): string[] {
  const stored: string[] = []
  for (const word of [...words].sort()) if (!stored.length || !word.startsWith(stored.at(-1)!)) stored.push(word)
  return stored
}

function oneOf(of: readonly Need[]): Need {
  if (of.some(({ kind }) => kind === 'nothing')) return NOTHING
  return of.length === 1 ? of[0]! : { kind: 'one', of, words: wordsIn(of) }
}

/** Needs with the fewest words come first, because they fail most often. */
function allOf(needs: readonly Need[]): Need {
  const of = needs.filter(({ kind }) => kind !== 'nothing').sort((a, b) => wordsIn([a]) - wordsIn([b]))
  if (!of.length) return NOTHING
  return of.length === 1 ? of[0]! : { kind: 'all', of, words: wordsIn(of) }
}

const wordsIn = (of: readonly Need[]): number =>
  of.reduce((sum, one) => sum + (one.kind === 'nothing' ? 0 : one.kind === 'word' ? 1 : one.words), 0)
