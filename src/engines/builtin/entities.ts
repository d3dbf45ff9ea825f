import type { Skill } from './question'

export type EntityKind = 'emails' | 'urls' | 'dates' | 'amounts' | 'phones' | 'hashtags' | 'mentions' | 'numbers'

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\\.?'
const DAY = '\\d{1,2}(?:st|nd|rd|th)?'
const DIGITS = '\\d[\\d,]{0,20}(?:\\.\\d{1,10})?'

/** Patterns of each kind. Every repetition is bounded, because they run over up to a megabyte of arbitrary text. */
const FORMS: Record<EntityKind, RegExp> = {
  emails: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  urls: /https?:\/\/[^\s<>"')\]]{1,2000}(?<![.,;:!?])/g,
  dates: new RegExp(
    `\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}\\b|\\b${DAY} ${MONTH},?(?: \\d{4})?\\b|\\b${MONTH} ${DAY}(?:,? \\d{4})?\\b`,
    'g',
  ),
  amounts: new RegExp(
    `[$€£¥] ?${DIGITS}|(?<![\\w.,])${DIGITS} ?(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|€|£)(?!\\w)`,
    'g',
  ),
  phones: /(?<![\w.+-])\+?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{2,4}\)?){2,4}(?![\w-])/g,
  hashtags: /(?<!\w)#\w{1,100}/g,
  mentions: /(?<![\w.])@\w{1,100}/g,
  numbers: new RegExp(`(?<![\\w.,-])-?${DIGITS}(?!\\w)`, 'g'),
}

const REQUESTS: [RegExp, EntityKind][] = [
  [/\be-?mails?(?: address(?:es)?)?\b/i, 'emails'],
  [/\b(?:urls?|links?|web addresses)\b/i, 'urls'],
  [/\bdates?\b/i, 'dates'],
  [/\b(?:amounts?|prices?|sums? of money|costs?)\b/i, 'amounts'],
  [/\b(?:phone|telephone)\b/i, 'phones'],
  [/\bhash-?tags?\b/i, 'hashtags'],
  [/\bmentions?\b/i, 'mentions'],
  [/(?<!phone )\bnumbers?\b/i, 'numbers'],
]

const NAMES: Record<EntityKind, string> = {
  emails: 'e-mail addresses',
  urls: 'web addresses',
  dates: 'dates',
  amounts: 'amounts',
  phones: 'phone numbers',
  hashtags: 'hashtags',
  mentions: 'mentions',
  numbers: 'numbers',
}

/** All entities of one kind in a text, without repeats, in order. */
export function findEntities(kind: EntityKind, text: string): string[] {
  const found = [...new Set(text.match(FORMS[kind]) ?? [])]
  // The pattern of phone numbers also matches short numbers and dates such as 2026-01-02.
  return kind === 'phones'
    ? found
        .map((word) => (word.includes('(') ? word : word.replace(/\)$/, '')))
        .filter((word) => word.replace(/\D/g, '').length >= 7 && !/^\d{4}-\d{2}-\d{2}$/.test(word))
    : found
}

/** Words that ask for some of the entities, and not for all. */
const SOME =
  /\b(?:first|second|last|after|before|since|until|between|greater|less|more|larger|smaller|above|below|over|under|except|only|most|least)\b/i

/** `Extract the e-mail addresses from: …`: lists the entities of the kinds asked for, or says that there are none. */
export const extract: Skill = ({ task, material }) => {
  if (!material || !/\b(?:extract|find|list|pull|get|which|what|give|show)\b/i.test(task) || SOME.test(task))
    return null
  const kinds = REQUESTS.filter(([request]) => request.test(task)).map(([, kind]) => kind)
  if (kinds.length === 0) return null
  const listed = kinds.map((kind) => {
    const found = findEntities(kind, material)
    return found.length ? found.map((item) => `- ${item}`).join('\n') : `There are no ${NAMES[kind]} in the text.`
  })
  return listed.join('\n\n')
}
