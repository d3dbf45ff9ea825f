import { isStopWord } from '../text'

/** A number in a sentence, and the word it counts or measures. `year` for a year. */
export type Figure = { value: number; unit: string }

const NUMBER =
  /(?<![\p{L}\d.,])([$€£¥])?\s?(-?\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?!\d)\s{0,2}(%|°|percent|per cent|thousand|million|billion|trillion|[\p{L}]+)?/giu
const TIMES: Record<string, number> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }
const MAX = 24
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
    if (found.length === MAX) break
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
