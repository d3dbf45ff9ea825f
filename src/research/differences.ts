import { contentWords, isStopWord } from '../text'
import type { Note } from './notes'

/** A number in a sentence, and the word it counts or measures. `year` for a year. */
export type Figure = { value: number; unit: string }

const NUMBER =
  /(?<![\p{L}\d.,])([$€£¥])?\s?(-?\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?!\d)\s{0,2}(%|°|percent|per cent|thousand|million|billion|trillion|[\p{L}]+)?/giu
const TIMES: Record<string, number> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }
const MAX_FIGURES = 24
/** Words that make a number a label: `chapter 3` does not count anything. */
const LABEL =
  /\b(?:chapter|part|page|section|table|fig(?:ure)?|letter|volume|issue|no|number|version|step|article|appendix|item|level|type|class|phase|grade|route|room|line|day)\.?\s*$/i
const LABEL_CHARS = 12

/** The numbers of a sentence with their units, with `1.2 million` as one number. At most 24. */
export function figuresIn(sentence: string): Figure[] {
  const found: Figure[] = []
  for (const { 1: sign, 2: digits, 3: after, index } of sentence.matchAll(NUMBER)) {
    if (LABEL.test(sentence.slice(Math.max(0, index - LABEL_CHARS), index))) continue
    const value = Number(digits!.replace(/[,\u202f\u00a0 ]/g, ''))
    const word = after?.toLowerCase() ?? ''
    const times = TIMES[word] ?? 1
    found.push({ value: value * times, unit: sign ?? unitOf(times === 1 ? word : '', digits!) })
    if (found.length === MAX_FIGURES) break
  }
  return found
}

function unitOf(word: string, digits: string): string {
  if (/^(?:%|percent|per cent)$/.test(word)) return '%'
  if (/^(?:1\d|20|21)\d\d$/.test(digits) && (word === '' || isStopWord(word))) return 'year'
  if (isStopWord(word)) return ''
  return word.length > 3 ? word.replace(/s$/, '') : word
}

/** Whether the sentence contains a negation. */
export const isNegated = (sentence: string): boolean =>
  /\b(?:not|never|no longer|cannot|neither|nor|without|none)\b|n['’]t\b|\b(?:nicht|kein\w*|nie|jamais|aucun\w*|ne\s+\p{L}+\s+pas|nunca|ningun\w*)\b/iu.test(
    sentence,
  )

const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:increas|rose|risen|grew|grow|gain)/i, /\b(?:decreas|fell|fallen|declin|shr[iau]nk|drop|lost)/i],
  [/\b(?:safe|harmless)\b/i, /\b(?:unsafe|harmful|dangerous)\b/i],
  [/\b(?:allow|permit|legal)/i, /\b(?:forbid|prohibit|ban|illegal)/i],
  [/\bopen(?:s|ed)?\b/i, /\bclose[sd]\b/i],
  [/\b(?:true|correct|confirmed)\b/i, /\b(?:false|wrong|incorrect|denied|disproved)\b/i],
]

/** The contradiction between two sentences on one subject. Null when both can be correct. */
export function differenceOf(one: string, other: string): string | null {
  const apart = figureApart(figuresIn(one), figuresIn(other))
  if (apart) return apart
  if (isNegated(one) !== isNegated(other)) return 'one says that it is not so'
  const isTurned = OPPOSITES.some(([a, b]) => turns(a, b, one, other) || turns(b, a, one, other))
  return isTurned ? 'they say the opposite' : null
}

const turns = (a: RegExp, b: RegExp, one: string, other: string): boolean =>
  a.test(one) && !b.test(one) && b.test(other) && !a.test(other)

/** The first unit for which both have numbers, but no common value. */
function figureApart(ours: readonly Figure[], theirs: readonly Figure[]): string | null {
  for (const { unit } of ours) {
    const own = valuesOf(ours, unit)
    const others = valuesOf(theirs, unit)
    // Rounding is not a contradiction, except for years.
    if (
      !others.length ||
      own.some((value) =>
        others.some(
          (stated) =>
            value === stated ||
            (unit !== 'year' && Math.abs(value - stated) <= 0.005 * Math.max(Math.abs(value), Math.abs(stated))),
        ),
      )
    )
      continue
    return `${own.join(', ')} and ${others.join(', ')}${unit ? ` (${unit})` : ''}`
  }
  return null
}

const valuesOf = (figures: readonly Figure[], unit: string): number[] =>
  figures.filter((one) => one.unit === unit).map(({ value }) => value)

const SHINGLE_WORDS = 5
/** Two texts that share this much of the shorter one count as copies. */
const SAME = 0.7
const MIN_SHINGLES = 8
const WORD = /[\p{L}\p{N}]+/gu

/** Hashes of all runs of five words, and of the whole text. Copies share most of them. */
function shinglesOf(text: string): ReadonlySet<number> {
  const words = text.toLowerCase().match(WORD) ?? []
  const found = new Set<number>()
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at++) {
    found.add(Bun.hash.xxHash32(words.slice(at, at + SHINGLE_WORDS).join(' ')))
  }
  if (words.length) found.add(Bun.hash.xxHash32(words.join(' ')))
  return found
}

/** Whether one of two texts has most of the other's words in the same order. Short texts must be identical. */
function isCopy(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  const [less, more] = one.size <= other.size ? [one, other] : [other, one]
  let shared = 0
  for (const shingle of less) if (more.has(shingle)) shared++
  if (less.size < MIN_SHINGLES) return shared === more.size && shared > 0
  return shared / less.size >= SAME
}

/** For each text, the index of the first one that it copies, or null. */
export function indexesOfCopies(texts: readonly string[]): (number | null)[] {
  const known = texts.map(shinglesOf)
  const copyOf: (number | null)[] = []
  for (const [at, shingles] of known.entries()) {
    const first = known.findIndex((other, before) => before < at && copyOf[before] === null && isCopy(other, shingles))
    copyOf.push(first < 0 ? null : first)
  }
  return copyOf
}

/** The share of common words of two sentences, from 0 to 1. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const word of one) if (other.has(word)) shared++
  const all = one.size + other.size - shared
  return all === 0 ? 0 : shared / all
}

/** Two notes of different sources that cannot both be correct, and the difference. */
export type Disagreement = { one: Note; other: Note; about: string }

/** Minimum share of common words for two sentences to be about the same subject. */
const SAME_SUBJECT = 0.5
const MIN_SHARED = 3
const MAX_FOUND = 12

/** The contradictions between notes of different sources: in a number, a negation, or a direction. */
export function disagreementsIn(notes: readonly Note[]): Disagreement[] {
  // Words without numbers, because numbers may differ.
  const read = notes.map((note) => ({
    note,
    words: new Set(contentWords(note.text).filter((word) => !/\d/.test(word))),
  }))
  const found: Disagreement[] = []
  const seen = new Set<string>()
  for (const [at, { note: one, words }] of read.entries()) {
    for (const { note: other, words: others } of read.slice(at + 1)) {
      if (found.length === MAX_FOUND) return found
      if (one.source === other.source || !isSameSubject(words, others)) continue
      const about = differenceOf(one.text, other.text)
      if (about === null || seen.has(keyOf(one, other, about))) continue
      seen.add(keyOf(one, other, about))
      found.push({ one, other, about })
    }
  }
  return found
}

const keyOf = (one: Note, other: Note, about: string): string => `${one.source} ${other.source} ${about}`

function isSameSubject(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  let shared = 0
  for (const word of one) if (other.has(word)) shared++
  return shared >= MIN_SHARED && overlap(one, other) >= SAME_SUBJECT
}
