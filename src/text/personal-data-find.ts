import type { CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min'
// The package's CommonJS file has a different default export in the bundled server than in the sources. This file has
// the same in both.
import isIBAN from 'validator/es/lib/isIBAN'
import { matchesOf } from './model'
import { found } from './names/tagger'
import { findAddresses } from './personal-data-ip-address'
import { type Entity, type Find, followsWord } from './personal-data-kind'
import { digitGroups, digitsOf, findCards, type Group, numberRuns, type Run } from './personal-data-numbers'
import { findNationalIds } from './personal-data-ssn'
import { plainly } from './plain'
import type { TextSpan } from './schema'

/** Words before a phone number, with up to 24 characters without a digit in between. */
const CONTEXT =
  /(?:(?:\b(?:tele?(?:phone|fon|foon|fono|fone|fax)?s?|t[ée]l(?:[ée]phone|[ée]fono)?|phones?|call(?:back)?|ring|dial|fax|mobile?|m[óo]vil|cell(?:phone|ular)?|handy(?:nummer)?|whatsapp|signal|sms|text|contact|reach(?: us| me)?|number|rufnummer|anrufen?|appele[zr]?|ll[áa]ma(?:me|r)?|ligue|bel|gsm|komórk[a-ząę]+|zadzwoń|dzwoń|telefonu?)\b)|тел|звони|номер|моб|電話|携帯|电话|手机|電话|전화|번호|هاتف|جوال|फ़ोन|मोबाइल|☎️?|📞|📱)[^\d\n]{0,24}$/iu

/** Words before other numbers, such as amounts and cards, which are never phone numbers. */
const OTHER =
  /(?:\bcard|\border|invoice|serial|isbn|imei|account|konto|ticket|\bid\b|ssn|\bvat\b|eur|usd|[$€£])[^\d\n]{0,16}$/i

/** A number in North American form, with or without the country code. */
const NANP =
  /^(?:\+?1[-. ])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]\d{4}|[2-9]\d{2}([-.])[2-9]\d{2}\1\d{4}|[2-9]\d{2} [2-9]\d{2}-\d{4})$/

/** The same form between blanks or slashes, if other numbers are adjacent. */
const NANP_WITHIN = new RegExp(`(?<![^ /])(?:${NANP.source.slice(1, -1)})(?![^ /])`, 'g')

/** A date, with or without a time, or a range of years. */
const TIME =
  /^(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2})(?!\d)|^(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}$/

/** Loaded on first use, because its tables are large. */
let parse: typeof parsePhoneNumberFromString | undefined

/**
 * Finds phone numbers: with a country code, in North American form, or in any form directly after a word such as
 * `Tel.`. Without one of these, a phone number cannot be distinguished from other numbers.
 */
const findPhones: Find = (text) =>
  numberRuns(text)
    .filter(({ digits }) => digits <= 40)
    .flatMap((run) => inRun(text, run))

/** Countries with a trunk prefix of zero. Together they cover the usual forms. */
const WITH_ZERO: readonly CountryCode[] = ['GB', 'DE', 'FR', 'NL', 'IT', 'AU', 'JP', 'KR', 'TR', 'UA', 'IN', 'SE', 'ZA']

const isDialledAbroad = (digits: string): boolean => /^00[1-9]/.test(digits) && isPossible(`+${digits.slice(2)}`)

/** Leaves out an opening bracket that is not closed within the number, because it belongs to the sentence. */
const bare = (text: string, { start, end }: Run): { start: number; end: number } =>
  text[start] === '(' && !text.slice(start, end).includes(')') ? { start: start + 1, end } : { start, end }

/** The end of a word. Every part of a form ends so, because it could otherwise stop inside a word or a postal code. */
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

/** Between the lines of an address, which may be written on one line. */
const NEXT = '(?:,?[ ]?\\n|,?[ ])'

/** Postal codes of Britain, Canada and the US. Five digits alone count only after a place separated by a comma. */
const CODE = '(?:[A-Z]{1,2}\\d[A-Z\\d]?[ ]?\\d[A-Z]{2}|[A-Z]\\d[A-Z][ ]?\\d[A-Z]\\d|[A-Z]{2}[ ]\\d{5}(?:-\\d{4})?)'

const COUNTRY =
  '(?:USA|U\\.S\\.A\\.|UK|U\\.K\\.|United States|United Kingdom|England|Scotland|Wales|Ireland|Canada|Australia|France|Deutschland|Germany|Österreich|Austria|Schweiz|Suisse|Switzerland|Italia|Italy|España|Spain|Portugal|Nederland|Netherlands|België|Belgique|Belgium|Polska|Poland|Sverige|Sweden|Norge|Norway|Danmark|Denmark|Suomi|Finland)'

const LAST = `${END}(?:${NEXT}${COUNTRY}${END})?`

/** The places after an English street up to the postal code, else one place after a comma. */
const PLACES = `(?:${NEXT}${TOWN}(?:[ -](?:${LINK}[ -](?:the[ -])?)${TOWN})?){0,7}`

const ENGLISH_TAIL = `(?:${PLACES}${NEXT}${CODE}${LAST}|${PLACES},[ ]${TOWN}(?:[ ]${TOWN})?[ ]\\d{5}(?:-\\d{4})?${LAST}|,[ \\n]${CITY}(?:${NEXT}${COUNTRY}${END})?)`

/** House number and street, with town and postal code if they follow: `12 Elm Street, Apt 4, Springfield, IL 62704`. */
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
 * Finds postal addresses: those in English and Russian form exactly, and those that a model detects by the surrounding
 * words and numbers. If both overlap, the longer one wins, unless it adds only plain words.
 */
const findPostalAddresses: Find = (text) => addressesIn(text, found(text, 'address'))

const meets = (one: TextSpan, other: TextSpan): boolean => one.start < other.end && other.start < one.end

/** Text that does not extend an address: lower-case words and punctuation. */
const PLAIN = /^[^\p{Lu}\p{Lo}\d]*$/u

/** IBAN length by country (SWIFT registry), which determines the end of an IBAN. */
const LENGTHS = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27
   GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27
   MD24 ME22 MK19 MR27 MT31 MU30 MZ25 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28
   TL23 TN24 TR26 UA29 VA22 VG24 XK20`
    .split(/\s+/)
    .map((word) => [word.slice(0, 2), Number(word.slice(2))] as const),
)

/** Country code and check digits. */
const BEGINNING = /(?<![A-Za-z0-9])[A-Za-z]{2}[ -]?\d[ -]?\d(?=[ -]?[A-Za-z0-9])/y

/** IBANs with a valid country, length and check digits (mod 97), in groups of any size. */
const findIbans: Find = (text) => {
  const found: TextSpan[] = []
  const groups = digitGroups(text)
  for (let index = 0; index < groups.length; index += 2) {
    const start = beginningAt(text, groups[index]!)
    BEGINNING.lastIndex = start
    if (start < 0 || !BEGINNING.test(text)) continue
    const length = LENGTHS.get(text.slice(start, start + 2).toUpperCase())
    const end = length ? endOfIban(text, start, length) : -1
    if (end > 0 && isIBAN(text.slice(start, end).replace(/[ -]/g, '').toUpperCase())) found.push({ start, end })
  }
  return found
}

/** A blank or a dash. */
const isBetween = (code: number): boolean => code === 32 || code === 45

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

const MAX_LOCAL = 64

const MAX_DOMAIN = 253

const LETTER = /[\p{L}\p{M}]/u

/** A host with a dot and an alphabetic top-level domain. `icon@2x.png` is an image name. */
const DOMAIN =
  /^(?!\d+(?:\.\d+)?x\.)(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(?:[\p{L}\p{M}]{2,24}|xn--[a-z0-9-]{2,59})$/iu

/** User names of code servers. */
const CODE_USER = /^(?:git|hg|svn|gitea|forgejo)$/i

/** Looks left and right of every `@`, at most as far as an address can extend. */
const findEmails: Find = (text) => {
  const found = []
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const start = startOf(text, at)
    // `scheme://user:word@host` is a password, not an e-mail address.
    if (start === at || /:\/\/[^\s/@]*$/.test(text.slice(Math.max(0, start - 100), start))) continue
    WIDE.lastIndex = at + 1
    const isWide = text.charCodeAt(at + 1) >= WITHOUT_BLANKS && WIDE.test(text)
    const end = isWide ? WIDE.lastIndex : endOf(text, at + 1)
    // `git@host:org/repository` is a repository address.
    const isCode =
      text[end] === ':' && /^\S/.test(text.slice(end + 1, end + 2)) && CODE_USER.test(text.slice(start, at))
    if (end > at + 1 && !isCode && DOMAIN.test(text.slice(at + 1, end))) found.push({ start, end })
  }
  return found
}

/** `@` in words, in brackets or as a separate word. */
const AT =
  /\s{0,2}[[({<]\s?(?:at|ät|arroba|chiocciola|arobase|@)\s?[\])}>]\s{0,2}|\s{1,2}(?:at|arroba|chiocciola|arobase|apenstaartje|собака)\s{1,2}/giu

const DOT = String.raw`(?:\s{0,2}[[({<]\s?(?:dot|punkt|punto|punt|point|ponto|\.)\s?[\])}>]\s{0,2}|\s{1,2}(?:dot|punkt|punto|punt|point|ponto|nokta|kropka|точка)\s{1,2}|\.)`

const PART = String.raw`[\p{L}\p{N}_+-]{1,40}`

const BEFORE = new RegExp(String.raw`(?<![\p{L}\p{N}_+.-])${PART}(?:${DOT}${PART}){0,2}$`, 'iu')

const BEHIND = new RegExp(String.raw`^${PART}(?:${DOT}${PART}){0,2}${DOT}(\p{L}{2,24})(?![\p{L}\p{N}])`, 'iu')

/** Maximum length of an address on either side. */
const REACH = 110

const ENDINGS =
  /^(?:com|org|net|info|biz|edu|gov|io|dev|app|ai|co|online|uk|ie|de|at|fr|es|it|nl|be|pl|ru|cn|in|jp|br|eu|ch|se|no|dk|fi|pt|gr|cz|ca|au|nz|kr|tr|ua|za|mx|ar|example|test)$/i

/** Words before “at” in sentences that only name a site: “find us at example dot com”. */
const NO_NAME =
  /(?:^|\s)(?:us|me|it|them|him|her|you|look|looking|visit|online|here|there|site|page|website|blog|docs?|shop|store|available|is|are|was|be|live|found|hosted|runs?|out|back|more|and|or|also|only|start|arrive|works?)$/i

/** E-mail addresses spelled out to hide them from machines: `ada at example dot com`, `ada[at]example.com`. */
const findSpelledEmails: Find = (text) => {
  const found: TextSpan[] = []
  for (const { 0: sign, index } of matchesOf(AT, text)) {
    const isWord = !/[[({<]/.test(sign)
    const before = BEFORE.exec(text.slice(Math.max(0, index - REACH), index))?.[0]
    const from = index + sign.length
    const behind = before && BEHIND.exec(text.slice(from, from + REACH))
    if (!behind || !ENDINGS.test(behind[1]!)) continue
    // In words, both `@` and the dot must be spelled out, because “meet at example.com” names a site.
    if (isWord && (!/\s/.test(behind[0]) || NO_NAME.test(before))) continue
    found.push({ start: index - before.length, end: from + behind[0].length })
  }
  return found
}

/** By priority. On overlaps, the finder listed first keeps its match. */
const FINDERS: readonly (readonly [Entity, Find])[] = [
  ['email', findEmails],
  ['email', findSpelledEmails],
  ['iban', findIbans],
  ['credit_card', findCards],
  ['ip_address', findAddresses],
  ['ssn', findNationalIds],
  ['phone', findPhones],
  ['address', findPostalAddresses],
  ['name', (text) => found(text, 'name')],
]

/** Personal data in a text, with offsets in the original text. */
export type PersonalData = TextSpan & { kind: Entity }

/** Finds personal data of these kinds, in text order and without overlaps. Loads the tables they need. */
export function personalDataFinder(entities: readonly Entity[]): (text: string) => PersonalData[] {
  const wanted = FINDERS.filter(([entity]) => entities.includes(entity))
  if (entities.includes('phone')) loadPhoneTables()
  return (text) => {
    const { text: plain, span } = plainly(text)
    const all = wanted.flatMap(([kind, find]) => find(plain).map(({ start, end }) => ({ start, end, kind })))
    return distinct(all).map((one) => ({ ...one, ...span(one.start, one.end) }))
  }
}

/** In text order and without overlaps: the finder listed first wins. Sorting keeps it nearly linear. */
function distinct(found: readonly PersonalData[]): PersonalData[] {
  const ranked = found.map((one, rank) => ({ one, rank })).sort((a, b) => a.one.start - b.one.start || a.rank - b.rank)
  const stored: { one: PersonalData; rank: number }[] = []
  for (const next of ranked) {
    const last = stored.at(-1)
    if (!last || last.one.end <= next.one.start) stored.push(next)
    else if (next.rank < last.rank) stored[stored.length - 1] = next
  }
  return stored.map(({ one }) => one)
}

function startOf(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < MAX_LOCAL && isPart(text, start - 1, "._%+-'~")) start--
  while (start < at && "._%+-'~".includes(text[start]!) && text[start] !== '_') start++
  return text[at - 1] === '.' ? at : start
}

function endOf(text: string, from: number): number {
  let end = from
  while (end < text.length && end - from < MAX_DOMAIN && isPart(text, end, '.-')) end++
  while (end > from && '.-'.includes(text[end - 1]!)) end--
  return end
}

/** Scripts from this code point on use no blanks. */
const WITHOUT_BLANKS = 0x2e80

/** A host in a script without blanks, with a Latin top-level domain: `例え.jp`. */
const WIDE = /(?:[\p{L}\p{M}\p{N}-]{1,63}\.){1,4}[a-z]{2,24}(?![a-z0-9-])/iuy

/** Excludes letters from U+2E80 on. These scripts use no blanks, so adjacent words would join the address. */
function isPart(text: string, at: number, signs: string): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) {
    const isAlphanumeric = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    return isAlphanumeric || signs.includes(text[at]!)
  }
  return code < WITHOUT_BLANKS && LETTER.test(text[at]!)
}

/** The start of a two-letter word before a digit, or -1. */
function beginningAt(text: string, digit: number): number {
  const last = isBetween(text.charCodeAt(digit - 1)) ? digit - 2 : digit - 1
  if (last < 1 || !isLetter(text.charCodeAt(last)) || !isLetter(text.charCodeAt(last - 1))) return -1
  // Rejects longer words.
  return last > 1 && isLetter(text.charCodeAt(last - 2)) ? -1 : last - 1
}

/** The end of `length` letters and digits with at most one blank or dash between any two, or -1. */
function endOfIban(text: string, start: number, length: number): number {
  let seen = 0
  let at = start
  for (; seen < length; at++) {
    if (/[A-Za-z0-9]/.test(text[at] ?? '')) seen++
    else if (!/[ -]/.test(text[at] ?? '') || !/[A-Za-z0-9]/.test(text[at - 1]!)) return -1
  }
  return /[A-Za-z0-9]/.test(text[at] ?? '') ? -1 : at
}

/** Combines addresses found by form with those that the model has detected. */
export function addressesIn(text: string, tagged: readonly TextSpan[]): TextSpan[] {
  const formed = [ENGLISH, RUSSIAN].flatMap((form) =>
    Array.from(text.matchAll(form), ({ 0: hit, index: start }) => ({ start, end: start + hit.length })),
  )
  const seen = tagged.filter((one) => !formed.some((other) => hides(text, other, one)))
  return [...formed.filter((one) => !seen.some((other) => meets(other, one))), ...seen]
}

function hides(text: string, { start, end }: TextSpan, other: TextSpan): boolean {
  if (!meets({ start, end }, other)) return false
  const isWithin = other.start <= start && other.end >= end
  return isWithin
    ? PLAIN.test(text.slice(other.start, start)) && PLAIN.test(text.slice(end, other.end))
    : end - start > other.end - other.start
}

function loadPhoneTables(): void {
  parse ??= (require('libphonenumber-js/min') as typeof import('libphonenumber-js/min')).parsePhoneNumberFromString
}

function inRun(text: string, run: Run): TextSpan[] {
  const formed = inForm(text, run)
  if (formed.length > 0) return formed
  const shown = text.slice(run.start, run.end)
  if (followsWord(text, run.start, OTHER, 24)) return []
  const within = Array.from(shown.matchAll(NANP_WITHIN), ({ 0: hit, index }) => ({
    start: run.start + index,
    end: run.start + index + hit.length,
  })).filter(({ start, end }) => isPossible(`+1${digitsOf(text, { start, end }).slice(-10)}`))
  if (within.length > 0) return within
  const parts = partsOf(text, run)
  const formedParts = parts.flatMap((part) => inForm(text, part))
  if (formedParts.length > 0) return formedParts
  if (/^\(?\+/.test(shown) || !followsWord(text, run.start, CONTEXT)) return []
  return isPlausible(text, run) ? [run] : parts.filter((part) => isPlausible(text, part))
}

/** The whole run, if its form is that of a phone number. */
function inForm(text: string, run: Run): TextSpan[] {
  const shown = text.slice(run.start, run.end)
  if (/^\(?\+/.test(shown)) return isPossible(`+${digitsOf(text, run)}`) ? [bare(text, run)] : []
  if (run.digits >= 11 && isDialledAbroad(digitsOf(text, run))) return [run]
  const isNanp = run.digits >= 10 && run.digits <= 11 && NANP.test(shown)
  const isPhone = isNanp ? isPossible(`+1${digitsOf(text, run).slice(-10)}`) : isNational(text, run, shown)
  return isPhone && !followsWord(text, run.start, OTHER, 24) ? [isNanp ? run : bare(text, run)] : []
}

/** The numbers of a run that are separated by a slash or dash between blanks: `030 1234567 / 030 1234568`. */
function partsOf(text: string, run: Run): Run[] {
  const parts: Run[] = []
  let groups: Group[] = []
  for (const [index, group] of run.groups.entries()) {
    groups.push(group)
    if (/^(?: [/-] |)$/.test(text.slice(group.end, run.groups[index + 1]?.start ?? group.end))) {
      const start = parts.length === 0 ? run.start : groups[0]!.start
      const digits = groups.reduce((sum, one) => sum + one.end - one.start, 0)
      parts.push({ start, end: group.end, groups, digits })
      groups = []
    }
  }
  return parts
}

/** A grouped number with a leading zero that is valid in one of these countries: `06 12 34 56 78`, `030 1234567`. */
function isNational(text: string, run: Run, shown: string): boolean {
  const { digits, groups } = run
  if (digits < 9 || digits > 12 || groups.length < 2 || groups.length > 5) return false
  if (!/^\(?0[1-9]/.test(shown) || /\.|\d-\d{1,3}-\d$/.test(shown) || TIME.test(shown)) return false
  const number = digitsOf(text, run)
  if (/(\d)\1{5}/.test(number)) return false
  loadPhoneTables()
  return WITH_ZERO.some((country) => parse!(number, country)?.isValid() === true)
}

/** Whether it has the length of a phone number and is not a time, a sequence of single digits or one repeated digit. */
function isPlausible(text: string, { digits, groups, start, end }: Run): boolean {
  if (digits < 7 || digits > 13 || TIME.test(text.slice(start, end))) return false
  const isCounted = groups.length > 1 && groups.every((one) => one.end - one.start === 1)
  return !isCounted && !/^(\d)\1+$/.test(digitsOf(text, { start, end }))
}

function isPossible(number: string): boolean {
  if (number.length < 8 || number.length > 17) return false
  loadPhoneTables()
  // `+49 (0)30 …`: the zero in brackets is only dialled inside the country.
  return [number, number.replace(/^(\+\d{2})0/, '$1')].some((one) => parse!(one)?.isPossible() === true)
}
