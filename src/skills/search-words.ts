import type { Mark } from '../kernel/page'

/** Text normalized for search: lower case, without accents and compatibility forms. */
export const searchable = (text: string): string => allWords(text).join(' ')

const allWords = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** At most 12 words of a query. Only letters and digits are kept, so no search syntax gets through (F4). */
export const wordsOf = (q: string): string[] => [...new Set(allWords(q))].slice(0, 12)

/** Prefixes of one or two ASCII letters match too many words. In other scripts one character may be a word. */
const SHORTEST_BEGINNING = 3
const isLatin = (word: string): boolean => /^[\p{ASCII}]+$/u.test(word)

/** Whether the last word of a query is also searched as a prefix, since it may still be being typed. */
export const mayGoOn = (word: string): boolean => !isLatin(word) || word.length >= SHORTEST_BEGINNING

/** The skill number in a mark; 0, after which nothing follows, for cursors of other lists. */
export const seqOf = ({ id }: Mark): number => (/^\d{1,15}$/.test(id) ? Number(id) : 0)
