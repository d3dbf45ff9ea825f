import isCreditCard from 'validator/lib/isCreditCard'
import isLuhnNumber from 'validator/lib/isLuhnNumber'
import { type Find, followsWord } from './personal-data-kind'
import { digitsOf, numberRuns, type Run } from './personal-data-numbers'
import { plainly } from './plain'

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

/** Card numbers: an issuer's prefix and the right check digit (Luhn), in one piece or grouped as on a card. */
export const findCards: Find = (text) => found(text, isCard)

/** Whether a text may hold a card number, also inside a word: for records, where doubt hides it. */
export const holdsCard = (text: string): boolean =>
  found(plainly(text).text.replace(/[\p{L}_#]/gu, '|'), mayBeCard).length > 0

const found = (text: string, isCard: IsCard): Span[] =>
  numberRuns(text)
    .filter(({ digits }) => digits >= MIN)
    .flatMap((run) => inRun(text, run, isCard))

type Span = { start: number; end: number }
type IsCard = (text: string, span: Span) => boolean

function inRun(text: string, run: Run, isCard: IsCard): Span[] {
  const { groups } = run
  const sizes = groups.map(({ start, end }) => end - start)
  const whole = { start: groups[0]!.start, end: groups.at(-1)!.end }
  // The whole run, if it is written digit by digit, or grouped unlike any card but behind a word such as `card`.
  if (run.digits <= MAX && sizes.length > 1 && !SHAPES.some((shape) => isShaped(shape, sizes, 0, sizes.length))) {
    const isOneNumber = sizes.every((size) => size === 1) || followsWord(text, whole.start, CONTEXT)
    if (isOneNumber && isCard(text, whole)) return [whole]
  }
  const found = []
  for (let first = 0; first < groups.length; first++) {
    const size = sizes[first]!
    if (size !== 4 && (size < MIN || size > MAX)) continue
    for (const count of [1, 3, 4, 5]) {
      const last = first + count - 1
      if (last >= groups.length || (count > 1 && !SHAPES.some((shape) => isShaped(shape, sizes, first, count))))
        continue
      if (count > 1 && (sizes[first - 1] === 4 || sizes[last + 1] === 4)) continue
      const span = { start: groups[first]!.start, end: groups[last]!.end }
      if (isCard(text, span)) {
        found.push(span)
        first = last
        break
      }
    }
  }
  return found
}

const isShaped = (shape: readonly number[], sizes: readonly number[], first: number, count: number): boolean =>
  shape.length === count && shape.every((size, at) => sizes[first + at] === size)

/** Numbers of cards begin with 3 to 6 or 22 to 27; times in milliseconds with 1, and dates with 20. */
function mayBeCard(text: string, span: Span): boolean {
  const digits = digitsOf(text, span)
  return digits.length >= MIN && digits.length <= MAX && /^(?:[3-6]|2[2-7])/.test(digits) && isLuhnNumber(digits)
}

function isCard(text: string, span: Span): boolean {
  const digits = digitsOf(text, span)
  if (digits.length < MIN || digits.length > MAX) return false
  // Rare lengths for cards, and common ones for article numbers and ids: these need a word such as `card` before them.
  const isUnusual = digits.length === MIN || digits.length > 16
  return isCreditCard(digits) && (!isUnusual || followsWord(text, span.start, CONTEXT))
}
