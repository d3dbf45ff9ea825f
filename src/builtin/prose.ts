import { isStopWord, sentencesOf } from '../text'
import { phraseFor } from './acting/phrases'
import { isVerb, wordsOfName } from './acting/vocabulary'
import { readNumber } from './words'

/** Facts in sentences without labels: names are found by their capitals, numbers by the noun they count. */
export type Prose = {
  /** A name, a place or a role for a text field; undefined when the text names none or several people. */
  words(field: string): string | undefined
  /** `34 years old`, `64 cores`, `2 Nobel prizes`. */
  number(field: string): number | undefined
  /** `is active`, `not married`, `backups are disabled`. */
  flag(field: string): boolean | undefined
  /** All people in the text, for a field that lists people; empty for any other field. */
  list(field: string): string[]
}

/** Limits the time of a fill, because every field of a schema searches the whole text. */
const MAX_READ_CHARS = 8_000

export function readProse(whole: string): Prose {
  const text = whole.slice(0, MAX_READ_CHARS)
  let known: string[] | undefined
  const people: People = () => {
    known ??= peopleIn(text)
    return known
  }
  return {
    words: once((field) => wordsFor(field, text, people)),
    number: once((field) => numberFor(field, text)),
    flag: once((field) => flagFor(field, text)),
    list: (field) => (PEOPLE.test(wordsOfName(field).at(-1) ?? '') ? people() : []),
  }
}

/** Caches a search by field, because a schema may name the same field many times. */
function once<Found>(look: (field: string) => Found): (field: string) => Found {
  const known = new Map<string, Found>()
  return (field) => {
    if (!known.has(field)) known.set(field, look(field))
    return known.get(field) as Found
  }
}

const PERSON =
  /^(?:name|person|author|customer|client|user|contact|owner|employee|patient|student|candidate|applicant|speaker|buyer|guest|who)$/
const PEOPLE = /^(?:names|people|persons|participants|attendees|guests|members|authors|speakers|students|employees)$/
const ROLE = /^(?:role|job|occupation|profession|title)$/
const QUANTITY = /^(?:quantity|qty|units|pieces|items|count)$/

/** Capitalised words that are not names, such as months, titles and first words of sentences. */
const NO_NAMES = new Set(
  `january february march april may june july august september october november december monday tuesday wednesday thursday
   friday saturday sunday contact call meet dear hello hi invoice order meeting customer client user person name extract
   classify mr mrs ms dr prof yes`.split(/\s+/),
)
const CAPITALISED = /\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+){0,4}/gu
/** What follows a name at the start of a sentence: a verb, a comma or another name. */
const AFTER_NAME = /^(?:,|['’]s\b|\s+(?:and|is|was|are|were|has|had|will|can|said|[a-z]{2,14}(?:s|ed))\b)/
const BEFORE_PLACE = /\b(?:in|at|near|to|from|of|on|around)\s+(?:the\s+)?$/i

const BEFORE_CHARS = 12

/** People that a text names, without repeats, in order: capitalised words where a name can stand. */
function peopleIn(text: string): string[] {
  const found = sentencesOf(text).flatMap((sentence) =>
    [...sentence.matchAll(CAPITALISED)].flatMap(({ 0: words, index }) => {
      const name = withoutLead(words)
      if (!name || BEFORE_PLACE.test(sentence.slice(Math.max(0, index - BEFORE_CHARS), index))) return []
      const opens = index === 0 && name === words && !name.includes(' ')
      return opens && !AFTER_NAME.test(sentence.slice(name.length)) ? [] : [name]
    }),
  )
  return [...new Set(found)]
}

function withoutLead(words: string): string {
  const parts = words.split(/\s+/)
  const first = parts.findIndex((part) => !isNoName(part.toLowerCase()))
  if (first < 0 || parts.slice(first).some((part) => NO_NAMES.has(part.toLowerCase()))) return ''
  return parts.slice(first).join(' ')
}

const isNoName = (word: string): boolean => NO_NAMES.has(word) || isStopWord(word) || isVerb(word)

type People = () => string[]

/** The only person, or the only one with a full name; undefined when several people could be meant. */
function onlyOne(people: readonly string[]): string | undefined {
  const full = people.filter((name) => name.includes(' '))
  if (full.length === 1) return full[0]
  return people.length === 1 ? people[0] : undefined
}

function wordsFor(name: string, text: string, people: People): string | undefined {
  const words = wordsOfName(name)
  const last = words.at(-1) ?? ''
  const person = PERSON.test(last) ? onlyOne(people()) : undefined
  if (person && /^(?:first|given)$/.test(words[0]!)) return person.split(' ')[0]
  if (person && /^(?:last|family|sur)$/.test(words[0]!)) return person.split(' ').slice(1).join(' ') || undefined
  if (/^surname$/.test(last)) return wordsFor('last_name', text, people)
  const introduced = sentencesOf(text).map((sentence) => phraseFor(last, { text: sentence }))
  const phrase = introduced.find((one) => one !== null) ?? undefined
  return (last === 'name' ? (phrase ?? person) : (person ?? phrase)) ?? (ROLE.test(last) ? roleIn(text) : undefined)
}

const roleIn = (text: string): string | undefined =>
  /\b(?:is|was|am|works as|worked as)\s+an?\s+([\p{L}-]+(?:\s+[\p{L}-]+){0,3}?)(?=\s+(?:at|in|for|from|and|who|of)\b|[.,;!?\n]|$)/u.exec(
    text,
  )?.[1]

const AGE =
  /\b(\d{1,3})[\s-]*(?:years?|yrs?)[\s-]*old\b|\b(?:aged?|turned)\s+(\d{1,3})\b|\b(?:is|am|[Ii]'m)\s+(\d{1,3})(?=\s*(?:[.,;!?\n]|and\b|$))|,\s*(\d{1,3})(?=\s*(?:[,)]|$))/
const SPELLED_AGE = /\b(?:is|am|aged?|turned)\s+([a-z]+(?:-[a-z]+)?)\b/g
const BOUGHT = /\b(?:order(?:ed)?|buys?|bought|purchased?|sold|sells?|needs?|wants?)\s+(\d{1,9})\b(?!\s*(?:%|[$€£]))/i

function numberFor(name: string, text: string): number | undefined {
  const words = wordsOfName(name)
  const last = words.at(-1) ?? ''
  if (last === 'age') return ageIn(text)
  if (QUANTITY.test(last) && BOUGHT.test(text)) return Number(BOUGHT.exec(text)?.[1])
  const counted = words.map((word) => RegExp.escape(word.replace(/s$/, ''))).join('\\s+')
  const byName = new RegExp(
    `(?<![\\p{L}\\d.,])(-?\\d[\\d,]{0,20}(?:\\.\\d+)?)\\s{1,3}(?:\\p{L}{1,20}\\s{1,3}){0,2}${counted}s?(?!\\p{L})|(?<!\\p{L})${counted}s?\\s{0,3}(?:of|is|=|:|to)?\\s{0,3}(-?\\d[\\d,]{0,20}(?:\\.\\d+)?)`,
    'iu',
  ).exec(text)
  const said = byName?.[1] ?? byName?.[2]
  return said === undefined ? undefined : (readNumber(said) ?? undefined)
}

function ageIn(text: string): number | undefined {
  const [, ...digits] = AGE.exec(text) ?? []
  const said = digits.find(Boolean)
  if (said !== undefined) return Number(said)
  const spelled = [...text.matchAll(SPELLED_AGE)].map(([, word]) => readNumber(word!)).find((age) => age !== null)
  return spelled ?? undefined
}

function flagFor(name: string, text: string): boolean | undefined {
  const words = wordsOfName(name).filter((word) => !/^(?:is|has|include|with|enable|use|should|are|was)$/.test(word))
  if (!words.length) return undefined
  const said = words.map((word) => RegExp.escape(word)).join('\\s+')
  if (!new RegExp(`(?<![\\p{L}-])${said}(?!\\p{L})`, 'iu').test(text)) return undefined
  const before = new RegExp(`(?:\\b(?:no|not|never|without|neither)|n['’]t)\\b[^.,;\\n]{0,30}(?<!\\p{L})${said}`, 'iu')
  const after = new RegExp(
    `${said}[^.,;\\n]{0,30}\\s(?:is|are|was|were)\\s+(?:not|off|false|disabled|missing|unavailable)\\b`,
    'iu',
  )
  return !before.test(text) && !after.test(text)
}
