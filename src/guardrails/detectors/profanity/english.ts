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
  const suspicion = suspicionOf((terms.blacklistedTerms ?? []).map(({ pattern }) => pattern as unknown as Pattern))

  return (view) => {
    const found: Place[] = []
    let seen = 0
    for (const at of suspicions(suspicion, view)) {
      if (at < seen) continue
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
  if (text.length > units.length) {
    units = new Uint16Array(text.length)
    places = new Int32Array(text.length)
  }
  const likely: number[] = []
  let length = 0
  let before = -1
  let beforeThat = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (before === code && (beforeThat === code || !isTwice(code))) continue
    const how = before >= 0 && code < 128 ? starts[before * 128 + code]! : 0
    if (how && (how & ANYWHERE || beforeThat < 0 || !isAlphanumeric(beforeThat))) likely.push(length - 1)
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

/** Where the two letters say something: in the middle of words too, or only where one begins. */
const ANYWHERE = 1
const AT_WORDS = 2
const isAlphanumeric = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

/** By the first letter what may follow; and which two letters anything begins with, as first * 128 + second. */
type Suspicion = { starts: Uint8Array; byLetter: ReadonlyMap<string, RegExp> }

function suspicionOf(patterns: readonly Pattern[]): Suspicion {
  const starts = new Uint8Array(1 << 16)
  for (const { nodes, requireWordBoundaryAtStart } of patterns) {
    const [first, second] = firstTwo(nodes)
    const seconds = second === null ? Array.from({ length: 128 }, (_, code) => code) : [second]
    const how = requireWordBoundaryAtStart ? AT_WORDS : ANYWHERE
    for (const code of seconds) starts[first * 128 + code]! |= how
  }
  const groups = Map.groupBy(patterns, ({ nodes }) => charOf(nodes[0]))
  const byLetter = new Map([...groups].map(([letter, some]) => [letter, new RegExp(some.map(sourceOf).join('|'), 'y')]))
  return { starts, byLetter }
}

/** The codes a pattern begins with; null where anything may stand second. */
function firstTwo(nodes: readonly Node[]): [number, number | null] {
  const [head, next] = nodes
  const [first, second = next?.chars?.[0]] = head?.chars ?? []
  return [first!, second === undefined || second === first ? null : second]
}

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
