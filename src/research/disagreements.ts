import { contentWords } from '../text'
import { differenceOf } from './difference'
import type { Note } from './notes'
import { overlap } from './similarity'

/** Two notes of different sources that cannot both be correct, and the difference. */
export type Disagreement = { one: Note; other: Note; about: string }

/** Minimum share of common words for two sentences to be about the same subject. */
const SAME_SUBJECT = 0.5
const MIN_SHARED = 3
const MAX = 12

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
      if (found.length === MAX) return found
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
