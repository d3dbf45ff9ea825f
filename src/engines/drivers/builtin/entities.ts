import type { Skill } from './question'

export type EntityKind = 'emails' | 'urls' | 'dates' | 'amounts' | 'phones' | 'hashtags' | 'mentions' | 'numbers'

/** What can be told from the form of a text alone. */
const FORMS: Record<EntityKind, RegExp> = {
  emails: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  urls: /https?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?]/g,
  dates:
    /\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}(?:st|nd|rd|th)?\s+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?,?(?:\s+\d{4})?\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?\b/g,
  amounts:
    /(?:[$€£¥]\s?\d[\d,]*(?:\.\d+)?|\b\d[\d,]*(?:\.\d+)?\s?(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|€|£)(?!\w))/g,
  phones: /(?<![\w-])\+?\(?\d{1,4}\)?(?:[\s./-]?\(?\d{2,4}\)?){2,4}(?![\w-])/g,
  hashtags: /(?<!\w)#\w+/g,
  mentions: /(?<![\w.])@\w+/g,
  numbers: /(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?!\w)/g,
}

const ASKED: [RegExp, EntityKind][] = [
  [/\be-?mails?(?: address(?:es)?)?\b/i, 'emails'],
  [/\b(?:urls?|links?|web addresses)\b/i, 'urls'],
  [/\bdates?\b/i, 'dates'],
  [/\b(?:amounts?|prices?|sums? of money|costs?)\b/i, 'amounts'],
  [/\b(?:phone|telephone)\b/i, 'phones'],
  [/\bhash-?tags?\b/i, 'hashtags'],
  [/\bmentions?\b/i, 'mentions'],
  [/\bnumbers?\b/i, 'numbers'],
]

/** All of one kind in a text, once each, in their order. */
export function findEntities(kind: EntityKind, text: string): string[] {
  const found = [...new Set(text.match(FORMS[kind]) ?? [])]
  // A date such as 2026-01-02 has the form of a phone number; seven digits tell one from the other.
  return kind === 'phones'
    ? found.filter((word) => word.replace(/\D/g, '').length >= 7 && !/^\d{4}-\d{2}-\d{2}$/.test(word))
    : found
}

/** `Extract the e-mail addresses from: …`: a list of what has the form asked for, or that there is none. */
export const extract: Skill = ({ task, material }) => {
  if (!material || !/\b(?:extract|find|list|pull|get|which|what|give|show)\b/i.test(task)) return null
  const kinds = ASKED.filter(([asked]) => asked.test(task)).map(([, kind]) => kind)
  if (kinds.length === 0) return null
  const listed = kinds.map((kind) => {
    const found = findEntities(kind, material)
    return found.length ? found.map((item) => `- ${item}`).join('\n') : `There are no ${kind} in the text.`
  })
  return listed.join('\n\n')
}
