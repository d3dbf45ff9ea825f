import type * as Obscenity from 'obscenity'
import { madeOf } from '../../../kernel/injection/units'
import type { Reading } from '../../text/words'
import type { Place } from '../pii/kind'

/** Words of medicine and of the law, birds, first names and names of groups: not rude by themselves. */
const PLAIN_WORDS = new Set(
  `anus buttplug dyke ejaculate fellatio hentai hooker incest masturbate negro orgasm orgy penis porn prn rape rapist semen
   sex sexy spastic vagina dick cock tit`.split(/\s+/),
)
/** How much around a suspicion is looked at in full: the longest phrase, and what makes it innocent. */
const AROUND = 24

/** Nodes of a pattern, as the package numbers them. */
const OPTIONAL = 0
const WILDCARD = 1

type Node = { kind: number; chars?: number[]; childNode?: Node }
type Pattern = { requireWordBoundaryAtStart: boolean; requireWordBoundaryAtEnd: boolean; nodes: Node[] }

/** English profanity as a maintained list has it, with its exceptions (Scunthorpe passes). */
export function compileEnglish(): (view: Reading) => Place[] {
  const obscenity = require('obscenity') as typeof Obscenity
  const data = new obscenity.DataSet<{ originalWord: string }>().addAll(obscenity.englishDataset)
  const terms = data.removePhrasesIf(({ metadata }) => PLAIN_WORDS.has(metadata?.originalWord ?? '')).build()
  const matcher = new obscenity.RegExpMatcher({ ...terms, ...obscenity.englishRecommendedTransformers })
  const patterns = (terms.blacklistedTerms ?? []).map(({ pattern }) => pattern as unknown as Pattern)
  const suspicion = suspicionOf(patterns)
  const innocent = innocentOf(patterns, terms.whitelistedTerms ?? [])

  return (view) => {
    const found: Place[] = []
    let seen = 0
    for (const at of suspicions(suspicion, view)) {
      if (at < seen || matchesAt(innocent, view.text, at)) continue
      const from = wordStart(view.text, Math.max(seen, at - AROUND))
      const to = at + 2 * AROUND
      for (const { startIndex, endIndex } of matcher.getAllMatches(view.text.slice(from, to), true)) {
        const start = from + startIndex
        // Words that reach over the edge are seen with the next suspicion.
        if (start >= seen) found.push({ start, end: from + endIndex + 1 })
      }
      seen = Math.max(seen, found.at(-1)?.end ?? 0, at + 1)
    }
    return found
  }
}

const wordStart = (text: string, from: number): number => {
  const blank = text.indexOf(' ', from)
  return from > 0 && blank >= 0 && blank - from < AROUND ? blank : from
}

/** What the package takes for letters that may stand twice; of the others a run is one. */
const TWICE = 'beolsg'
const TWICE_CODES = new Uint8Array(1 << 16)
for (const letter of TWICE) TWICE_CODES[letter.charCodeAt(0)] = 1
const isTwice = (code: number): boolean => TWICE_CODES[code] === 1

/** Room for a text in which runs are made short, kept from text to text. */
let units = new Uint16Array(1 << 12)
let places = new Int32Array(1 << 12)

/** Where something like a word of the list begins, on runs of letters made short: quick, and wrong rather too often. */
function suspicions({ starts, byLetter }: Suspicion, view: Reading): number[] {
  const { text } = view.letters ?? view
  if (text.length >= units.length) {
    units = new Uint16Array(text.length + 1)
    places = new Int32Array(text.length + 1)
  }
  const likely: number[] = []
  let length = 0
  let before = -1
  let beforeThat = -1
  let three = 0
  // One beyond the end, where it reads 0: a word of two letters may be the last.
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at) | 0
    if (before === code && (beforeThat === code || !isTwice(code))) continue
    three = ((three << 5) | (code >= 97 && code <= 122 ? code - 96 : 0)) & MOST_THREE
    const how = starts[three]!
    if (how && length >= 2 && (how & ANYWHERE || length === 2 || !isAlphanumeric(units[length - 3]!))) {
      likely.push(length - 2)
    }
    units[length] = code
    places[length++] = at
    beforeThat = before
    before = code
  }
  if (!likely.length) return likely
  const single = madeOf(units, length)
  return likely.filter((at) => matchesAt(byLetter.get(single[at]!)!, single, at)).map((at) => places[at]!)
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

/** Where the three letters say something: in the middle of words too, or only where one begins. */
const ANYWHERE = 1
const AT_WORDS = 2
const MOST_THREE = (1 << 15) - 1
const ANYTHING = -1
const EVERY_CLASS = Array.from({ length: 27 }, (_, one) => one)
const isAlphanumeric = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

/**
 * Of the package's exceptions those that settle a suspicion alone: whatever begins where they begin ends within
 * them, so `analysis` has not to be looked at in full.
 */
function innocentOf(patterns: readonly Pattern[], exceptions: readonly string[]): RegExp {
  const heads = patterns.map(({ nodes }) => ({
    head: headOf(nodes),
    isAll: nodes.every(({ kind }) => kind !== OPTIONAL && kind !== WILDCARD),
  }))
  const settles = (word: string): boolean =>
    heads.every(
      ({ head, isAll }) => (isAll && word.startsWith(head)) || !(word.startsWith(head) || head.startsWith(word)),
    )
  const alone = exceptions.filter(
    (word) => /^([a-z])(?!.*\1)[a-z]*$/.test(word) && shortened([...word]) === word && settles(word),
  )
  // A sign before it can be read as its first letter and stands outside of the exception then.
  return new RegExp(`(?<![^a-z ])(?:${alone.join('|') || '(?!)'})`, 'y')
}

/** By the first letter what may follow; and which three letters anything begins with, five bits each. */
type Suspicion = { starts: Uint8Array; byLetter: ReadonlyMap<string, RegExp> }

function suspicionOf(patterns: readonly Pattern[]): Suspicion {
  const starts = new Uint8Array(MOST_THREE + 1)
  for (const { nodes, requireWordBoundaryAtStart } of patterns) {
    const how = requireWordBoundaryAtStart ? AT_WORDS : ANYWHERE
    for (const three of firstThree(nodes)) starts[three]! |= how
  }
  const groups = Map.groupBy(patterns, ({ nodes }) => charOf(nodes[0]))
  const byLetter = new Map([...groups].map(([letter, some]) => [letter, new RegExp(some.map(sourceOf).join('|'), 'y')]))
  return { starts, byLetter }
}

/** All that a pattern can begin with; 0 is what is no letter. */
const firstThree = (nodes: readonly Node[]): number[] =>
  begun(nodes, []).flatMap((codes) =>
    [0, 1, 2]
      .map((place) => codes[place] ?? ANYTHING)
      .reduce<number[]>((sums, code) => sums.flatMap((sum) => classesOf(code).map((one) => (sum << 5) | one)), [0]),
  )

const classesOf = (code: number): readonly number[] =>
  code === ANYTHING ? EVERY_CLASS : [code >= 97 && code <= 122 ? code - 96 : 0]

/** Ways to go on from some codes to three of them, with and without what may be left out. */
function begun([node, ...rest]: readonly Node[], codes: readonly number[]): (readonly number[])[] {
  if (!node || codes.length >= 3) return [codes]
  if (node.kind === WILDCARD) return begun(rest, [...codes, ANYTHING])
  if (node.kind === OPTIONAL) return [...begun(rest, codes), ...begun([node.childNode!, ...rest], codes)]
  return begun(rest, joined(codes, node.chars ?? []))
}

function joined(codes: readonly number[], more: readonly number[]): readonly number[] {
  const all = [...codes]
  for (const code of more) if (all.at(-1) !== code || isTwice(code)) all.push(code)
  return all
}

/** The letters a pattern begins with for sure, with runs made short. */
function headOf(nodes: readonly Node[]): string {
  const open = nodes.findIndex(({ kind }) => kind === OPTIONAL || kind === WILDCARD)
  const sure = open < 0 ? nodes : nodes.slice(0, open)
  return shortened(sure.flatMap(({ chars = [] }) => chars.map((code) => String.fromCodePoint(code))))
}

const shortened = (letters: readonly string[]): string =>
  letters.filter((letter, place) => !isRun(letter, letters[place - 1] ?? '')).join('')

const charOf = (node: Node | undefined): string => String.fromCodePoint(node?.chars?.[0] ?? 0)

/** The same letter again, which is already there. */
const isRun = (letter: string, before: string): boolean => letter === before && !TWICE.includes(letter)

function sourceOf({ nodes, requireWordBoundaryAtStart: start, requireWordBoundaryAtEnd: end }: Pattern): string {
  let source = start ? '(?<![a-z0-9])' : ''
  let before = ''
  for (const node of nodes) {
    if (node.kind === WILDCARD) source += '.'
    else if (node.kind === OPTIONAL) {
      const letter = node.childNode?.chars ? String.fromCodePoint(...node.childNode.chars) : '.'
      if (!isRun(letter, before)) source += `${letter}?`
    } else {
      for (const letter of String.fromCodePoint(...(node.chars ?? []))) {
        if (!isRun(letter, before)) source += letter
        before = letter
      }
    }
  }
  return source + (end ? '(?![a-z0-9])' : '')
}
