import { found } from '../names/tagger'
import type { TextSpan } from '../span'
import type { Find } from './kind'

/** Where a word ends. Every part of a form ends so, or it would stop inside a word or a postal code. */
const END = '(?![\\p{L}\\p{M}\\d])'
const WORD = `(?:[ldLD]['’])?[\\p{Lu}\\d][\\p{L}\\p{M}\\d.'’-]{0,24}${END}`
const NUMBER = `\\d{1,5}(?:[ ]?\\p{L}(?![\\p{L}\\p{M}\\d]))?(?:[-/]\\d{1,4}\\p{L}?)?${END}`
const TOWN = `(?:St\\.[ ])?\\p{Lu}(?:[\\p{L}\\p{M}]|[.'’-](?=\\p{L})){1,24}${END}`
const LINK = '(?:upon|on|of|by|le|la|les|de|del|di|du|am|an|im|in|ob|bei|vor|der|den|aan|en)'
const CITY = `${TOWN}(?:[ -](?:${LINK}[ -]){0,2}${TOWN}){0,2}`
const US_STREET =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Way|Highway|Hwy|Parkway|Pkwy|Crescent|Close|Mews|Row'
const QUARTER = '(?:N|S|E|W|NW|NE|SW|SE|North|South|East|West)'
const UNIT = '(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\\.?[ ]?[\\w-]{1,12}'
/** Between the lines of an address, which may stand on one. */
const NEXT = '(?:,?[ ]?\\n|,?[ ])'
/** Britain, Canada, the United States; five digits alone count behind a place that a comma sets off. */
const CODE = '(?:[A-Z]{1,2}\\d[A-Z\\d]?[ ]?\\d[A-Z]{2}|[A-Z]\\d[A-Z][ ]?\\d[A-Z]\\d|[A-Z]{2}[ ]\\d{5}(?:-\\d{4})?)'
const COUNTRY =
  '(?:USA|U\\.S\\.A\\.|UK|U\\.K\\.|United States|United Kingdom|England|Scotland|Wales|Ireland|Canada|Australia|France|Deutschland|Germany|Österreich|Austria|Schweiz|Suisse|Switzerland|Italia|Italy|España|Spain|Portugal|Nederland|Netherlands|België|Belgique|Belgium|Polska|Poland|Sverige|Sweden|Norge|Norway|Danmark|Denmark|Suomi|Finland)'
const LAST = `${END}(?:${NEXT}${COUNTRY}${END})?`
/** What follows a street in English: places up to the postal code, else one place behind a comma. */
const PLACES = `(?:${NEXT}${TOWN}(?:[ -](?:${LINK}[ -](?:the[ -])?)${TOWN})?){0,7}`
const ENGLISH_TAIL = `(?:${PLACES}${NEXT}${CODE}${LAST}|${PLACES},[ ]${TOWN}(?:[ ]${TOWN})?[ ]\\d{5}(?:-\\d{4})?${LAST}|,[ \\n]${CITY}(?:${NEXT}${COUNTRY}${END})?)`

/** House number and street, with the town and its postal code if they follow: `12 Elm Street, Apt 4, Springfield, IL 62704`. */
const ENGLISH = new RegExp(
  `(?<![\\p{L}\\d.,])${NUMBER}[ ](?:${WORD}[ ]){1,4}(?:${US_STREET})${END}\\.?(?:[ ]${QUARTER}${END})?(?:,?[ ]${UNIT}${END})?${ENGLISH_TAIL}?`,
  'gu',
)
// г. Москва, ул. Ленина, д. 5
const RUSSIAN = new RegExp(
  `(?:г\\.[ ]?${CITY},[ ])?(?:ул\\.|улица|пр\\.|проспект|пер\\.)[ ]?${CITY},?[ ](?:д\\.|дом)?[ ]?${NUMBER}(?:,[ ]кв\\.[ ]?\\d{1,4}${END})?`,
  'gu',
)

/**
 * Postal addresses: those in English and Russian form, to the last character, and those that a model sees by words and
 * numbers around. Where both meet, the longer wins, unless it adds plain words only.
 */
export const findPostalAddresses: Find = (text) => addressesIn(text, found(text, 'address'))

/** With those that a model has seen. */
export function addressesIn(text: string, tagged: readonly TextSpan[]): TextSpan[] {
  const formed = [ENGLISH, RUSSIAN].flatMap((form) =>
    Array.from(text.matchAll(form), ({ 0: hit, index: start }) => ({ start, end: start + hit.length })),
  )
  const seen = tagged.filter((one) => !formed.some((other) => hides(text, other, one)))
  return [...formed.filter((one) => !seen.some((other) => meets(other, one))), ...seen]
}

const meets = (one: TextSpan, other: TextSpan): boolean => one.start < other.end && other.start < one.end
/** What is no more of an address: words in lower case and signs. */
const PLAIN = /^[^\p{Lu}\p{Lo}\d]*$/u

function hides(text: string, { start, end }: TextSpan, other: TextSpan): boolean {
  if (!meets({ start, end }, other)) return false
  const isWithin = other.start <= start && other.end >= end
  return isWithin
    ? PLAIN.test(text.slice(other.start, start)) && PLAIN.test(text.slice(end, other.end))
    : end - start > other.end - other.start
}
