import type { Mark } from '../kernel/page'

/** Text as it is searched: compatibility forms and accents gone, small. */
export const searchable = (text: string): string => allWords(text).join(' ')

const allWords = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** The words of a query; what is no letter or digit only separates them, so no syntax gets through (F4). */
export const wordsOf = (q: string): string[] => [...new Set(allWords(q))].slice(0, 12)

/** Two letters begin too many words to tell anything; in scripts of syllables one is a word. */
const SHORTEST_BEGINNING = 3
const isLatin = (word: string): boolean => /^[\p{ASCII}]+$/u.test(word)

/** Whether the last word of a query may be one that is still being typed. */
export const mayGoOn = (word: string): boolean => !isLatin(word) || word.length >= SHORTEST_BEGINNING

/** Marks of other lists hold no number: nothing is after them. */
export const seqOf = ({ id }: Mark): number => (/^\d{1,15}$/.test(id) ? Number(id) : 0)
