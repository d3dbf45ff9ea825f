import isCreditCard from 'validator/lib/isCreditCard'
import isLuhnNumber from 'validator/lib/isLuhnNumber'
import { type Find, followsWord } from './personal-data-kind'
import { plainly } from './plain'
import { isEmphasis, remember } from './runs'

const CONTEXT = /(?:card|credit|debit|visa|amex|carte|karte|tarjeta|cart[aã]o|карт|卡|カード|pan)[^\d\n]{0,24}$/i

/** Digits per group as printed on cards. Every shape begins with four, on which `inRun` relies. */
const SHAPES: readonly (readonly number[])[] = [
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 5],
  [4, 4, 4, 4],
  [4, 4, 4, 1],
  [4, 4, 4, 4, 3],
]

const MIN = 13

const MAX = 19

/** Finds card numbers: an issuer's prefix and the correct check digit (Luhn), in one piece or grouped as on a card. */
export const findCards: Find = (text) => found(text, isCard)

/** Whether a text may contain a card number, even inside a word. Used for records, where doubtful values are hidden. */
export function holdsCard(text: string): boolean {
  // One UUID in seven thousand has groups of digits like a card. One of digits alone may be a card in disguise.
  const apart = plainly(text).text.replace(UUID, (id) => (/[a-f]/i.test(id) ? '|' : id))
  return found(apart.replace(/[\p{L}_#]/gu, '|'), mayBeCard).length > 0
}

const UUID = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi

const found = (text: string, isCard: IsCard): Span[] =>
  numberRuns(text)
    .filter(({ digits }) => digits >= MIN)
    .flatMap((run) => inRun(text, run, isCard))

type Span = { start: number; end: number }

type IsCard = (text: string, span: Span) => boolean

const isShaped = (shape: readonly number[], sizes: readonly number[], first: number, count: number): boolean =>
  shape.length === count && shape.every((size, at) => sizes[first + at] === size)

/** Start and end offset of a group of digits. */
export type Group = { start: number; end: number }
/** Digits separated by blanks, dots, dashes, slashes and brackets. */
export type Run = {
  start: number
  end: number
  groups: readonly Group[]
  /** Total number of digits in all groups. */
  digits: number
}

/**
 * Start and end offsets of all groups of digits, as a flat list. Every finder of numbers starts from these, so that the
 * rest of a text is read only once.
 */
export const digitGroups = remember((text: string): readonly number[] => {
  const groups: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const start = at
    while (at < text.length && isDigit(text.charCodeAt(at))) at++
    groups.push(start, at)
  }
  return groups
})

const MIN_DIGITS = 6
const MAX_DIGITS = 41
const MAX_BETWEEN = 3

/**
 * Everything that could be a phone or card number: at least six digits, with up to three separators between any two and
 * up to two of `+` and `(` before. Linear, because every digit is in at most one run.
 */
export const numberRuns = remember((text: string): readonly Run[] => {
  const runs: Run[] = []
  const all = digitGroups(text)
  let groups: Group[] = []
  let digits = 0
  const close = () => {
    if (digits >= MIN_DIGITS) addRun(runs, text, groups)
    groups = []
    digits = 0
  }
  for (let index = 0; index < all.length; index += 2) {
    let start = all[index]!
    const end = all[index + 1]!
    if (index > 0 && !isJoined(text, all[index - 1]!, start)) close()
    while (digits + end - start > MAX_DIGITS) {
      const cut = start + MAX_DIGITS - digits
      if (cut > start) groups.push({ start, end: cut })
      digits = MAX_DIGITS
      close()
      start = cut
    }
    groups.push({ start, end })
    digits += end - start
  }
  close()
  return runs
})

/** Leaves out outer groups that belong to a word, an amount or a time and are separated by a blank. */
function addRun(runs: Run[], text: string, groups: readonly Group[]): void {
  let first = 0
  let last = groups.length - 1
  const isApart = (index: number) => text.slice(groups[index]!.end, groups[index + 1]!.start).includes(' ')
  while (first < last && isApart(first) && isBegun(text, groups[first]!)) first++
  while (first < last && isApart(last - 1) && isContinued(text, groups[last]!)) last--
  const start = startOf(text, groups[first]!.start)
  const own = groups.slice(first, last + 1)
  const digits = own.reduce((sum, one) => sum + one.end - one.start, 0)
  if (digits < MIN_DIGITS || isBegun(text, own[0]!) || isContinued(text, own.at(-1)!)) return
  runs.push({ start, end: own.at(-1)!.end, groups: own, digits })
}

/** Whether the text between two offsets consists of a few separators only. */
function isJoined(text: string, from: number, to: number): boolean {
  if (to - from > MAX_BETWEEN) return false
  for (let at = from; at < to; at++) if (!isBetween(text.charCodeAt(at))) return false
  return true
}

/** The start of a number, with up to two signs before its first digit. */
function startOf(text: string, digit: number): number {
  let start = digit
  while (start > 0 && digit - start < 2 && '+('.includes(text[start - 1]!)) start--
  return start
}

/** Blank, brackets, dot, dash and slash. */
const isBetween = (code: number): boolean => code === 32 || code === 40 || code === 41 || (code >= 45 && code <= 47)
const isDigit = (code: number): boolean => code >= 48 && code <= 57
/** Letters, digits and `_`. */
const isPart = (code: number): boolean =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95

/**
 * Whether a group continues to the left, as part of an id, a hash, an amount or a time. Next to a comma or a colon it
 * must also have a matching length, because table rows look the same.
 */
function isBegun(text: string, { start, end }: Group): boolean {
  const from = startOf(text, start)
  const before = from > 0 ? text.charCodeAt(from - 1) : 32
  if (before === 35 || (isPart(before) && !isEmphasis(text, from - 1, -1))) return true
  if (from < start || from < 2 || !isDigit(text.charCodeAt(from - 2))) return false
  if (before === COMMA) return end - start === 3 && text[end] !== '-'
  return (before === DOT || before === COLON) && end - start < 8
}

/** Like `isBegun`, to the right. */
function isContinued(text: string, { start, end }: Group): boolean {
  const after = end < text.length ? text.charCodeAt(end) : 32
  if (isPart(after) && !isEmphasis(text, end, 1)) return true
  const isShort = after === COMMA ? end - start <= 3 : after === COLON && end - start <= 4
  return isShort && /^\d{3}(?!\d)/.test(text.slice(end + 1, end + 5))
}

const COMMA = 44
const DOT = 46
const COLON = 58

export const digitsOf = (text: string, { start, end }: Group): string => text.slice(start, end).replace(/\D/g, '')

function inRun(text: string, run: Run, isCard: IsCard): Span[] {
  const { groups } = run
  const sizes = groups.map(({ start, end }) => end - start)
  const whole = { start: groups[0]!.start, end: groups.at(-1)!.end }
  // The whole run, if it is written digit by digit, or grouped unlike any card but after a word such as `card`.
  if (run.digits <= MAX && sizes.length > 1 && !SHAPES.some((shape) => isShaped(shape, sizes, 0, sizes.length))) {
    const isOneNumber = sizes.every((size) => size === 1) || followsWord(text, whole.start, CONTEXT)
    if (isOneNumber && isCard(text, whole)) return [whole]
  }
  const found = []
  let next = 0
  for (let first = 0; first < groups.length; first++) {
    const size = sizes[first]!
    if (size !== 4 && (size < MIN || size > MAX)) continue
    for (const count of [1, 3, 4, 5]) {
      const last = first + count - 1
      if (last >= groups.length || (count > 1 && !SHAPES.some((shape) => isShaped(shape, sizes, first, count))))
        continue
      const span = { start: groups[first]!.start, end: groups[last]!.end }
      const isCut = sizes[first - 1] === 4 || sizes[last + 1] === 4
      if (count > 1 && isCut && !isSetOff(text, groups, first, last, next)) continue
      if (isCard(text, span)) {
        found.push(span)
        first = last
        next = first + 1
        break
      }
    }
  }
  return found
}

/**
 * Whether groups among others of four digits form a separate number: after another card or at the start, and before
 * another card or a date, or with one separator inside and another around.
 */
function isSetOff(text: string, groups: readonly Group[], first: number, last: number, next: number): boolean {
  const between = (index: number) => text.slice(groups[index]?.end, groups[index + 1]?.start)
  const sign = between(first)
  const isOneSign = groups.slice(first, last).every((_, at) => between(first + at) === sign)
  const isOther = (index: number) => index < 0 || index + 1 >= groups.length || between(index) !== sign
  if (isOneSign && isOther(first - 1) && isOther(last)) return true
  const rest = groups.slice(last + 1, last + 5).map((group) => digitsOf(text, group))
  const isCardNext = rest.length === 4 && isCreditCard(rest.join(''))
  return first === next && (rest.length === 0 || isCardNext || EXPIRY.test(rest[0]!))
}

/** A month and a year, or a year alone. */
const EXPIRY = /^(?:(?:0[1-9]|1[0-2])[2-4]\d|20[2-4]\d)$/

/** Card numbers begin with 3 to 6 or 22 to 27. Times in milliseconds begin with 1, and dates with 20. */
function mayBeCard(text: string, span: Span): boolean {
  const digits = digitsOf(text, span)
  return digits.length >= MIN && digits.length <= MAX && /^(?:[3-6]|2[2-7])/.test(digits) && isLuhnNumber(digits)
}

function isCard(text: string, span: Span): boolean {
  const digits = digitsOf(text, span)
  if (digits.length < MIN || digits.length > MAX) return false
  // These lengths are rare for cards and common for article numbers and ids. They need a word such as `card` before.
  const isUnusual = digits.length === MIN || digits.length > 16
  const isKnown = isCreditCard(digits) || (YOUNGER.test(digits) && isLuhnNumber(digits))
  return isKnown && (!isUnusual || followsWord(text, span.start, CONTEXT))
}

/** Cards that the library does not know: Discover from 644, Mir, Diners Club 39, Elo and Verve, Troy. */
const YOUNGER = /^(?:64[4-9]\d{13}|220[0-4]\d{12}|39\d{12}|50[69]\d{13}|9792\d{12})$/
