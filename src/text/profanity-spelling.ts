import { isLetter } from './injection/units'

/** Units that are not letters: a star, any sign, and a sign or a blank. */
const STAR = -1
const SIGN = -2
const GAP = -3
const SIGNS: Readonly<Record<string, number>> = { '*': STAR, '?': SIGN }

/** A word to search for, as runs of one letter. `minLengths` has the minimum length of each run. */
export type Spelling = {
  term: string
  units: readonly number[]
  minLengths: readonly number[]
  /** Whether it must be a whole word. Otherwise it may be part of one. */
  isWhole: boolean
  /** Whether it counts only with a digit or sign in place of a letter. */
  isFigured: boolean
}

/** Parses the notation of the word list, with its choices expanded. */
export function spellingOf(notation: string, isFigured = false): Spelling {
  const isWhole = !notation.startsWith('~')
  const term = isWhole ? notation : notation.slice(1)
  return { ...runsOf([...term].map((char) => SIGNS[char] ?? char.charCodeAt(0))), term, isWhole, isFigured }
}

/** The spelling with a sign or a blank between the letters. */
export function spelledOut(term: string): Spelling {
  const units = [...term].flatMap((char) => [GAP, char.charCodeAt(0)]).slice(1)
  return { term, units, minLengths: units.map(() => 1), isWhole: true, isFigured: false }
}

function runsOf(codes: readonly number[]): Pick<Spelling, 'units' | 'minLengths'> {
  const units: number[] = []
  const minLengths: number[] = []
  for (const code of codes) {
    if (units.at(-1) === code) minLengths[minLengths.length - 1]!++
    else {
      units.push(code)
      minLengths.push(1)
    }
  }
  return { units, minLengths }
}

/** In words of at least this length a star may replace an inner vowel. Shorter ones would match formulas. */
const MIN_STARRED = 5
const VOWELS = new Set([...'aeiou'].map((char) => char.charCodeAt(0)))

const isStarrable = ({ term, units }: Spelling, index: number): boolean =>
  index > 0 && index < units.length - 1 && term.length >= MIN_STARRED && VOWELS.has(units[index]!)

/** Whether a unit of a lower-case text fits the spelling at a position. */
export function fits(spelling: Spelling, index: number, code: number): boolean {
  const wanted = spelling.units[index]!
  if (code === wanted) return true
  if (CLASSES[code] === STARS) return wanted < 0 || isStarrable(spelling, index)
  return code === 32 ? wanted === GAP : wanted < STAR && code > 0 && !isOfWord(code)
}

/** Latin letters and digits, which continue a word. Scripts without blanks have no word boundaries to respect. */
export const isOfWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 0xc0 && code < 0x250 && isLetter(code))

/** By unit: a letter's position in the alphabet from 1, STARS for signs that may replace a letter, else 0. */
const CLASSES = new Uint8Array(1 << 16)
for (let code = 97; code <= 122; code++) CLASSES[code] = code - 96
const STARS = 27
CLASSES[42] = STARS
CLASSES[35] = STARS

const BITS = 5
/** The number of combinations of three classes. */
export const THREES = 1 << (3 * BITS)

/** The last three units as a number, advanced by one unit. */
export const nextThree = (three: number, code: number): number => nextClass(three, CLASSES[code]!)
const nextClass = (three: number, one: number): number => ((three << BITS) | one) & (THREES - 1)

/** Every combination with which a spelling may begin. Anything may follow a spelling of two runs, as in `ass!`. */
export const threesOf = (spelling: Spelling): number[] =>
  [0, 1, 2].reduce<number[]>(
    (threes, index) => threes.flatMap((three) => classesAt(spelling, index).map((one) => nextClass(three, one))),
    [0],
  )

const EVERY_CLASS = Array.from({ length: STARS + 1 }, (_, one) => one)

function classesAt(spelling: Spelling, index: number): readonly number[] {
  const wanted = spelling.units[index]
  if (wanted === undefined) return EVERY_CLASS
  if (wanted === STAR) return [STARS]
  if (wanted < STAR) return [0, STARS]
  return isStarrable(spelling, index) ? [CLASSES[wanted]!, STARS] : [CLASSES[wanted]!]
}
