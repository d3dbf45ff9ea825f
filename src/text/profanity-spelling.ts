import { isLetter } from './injection/units'

/** Units that are not letters: a star, any sign, and a sign or a blank. */
const STAR = -1
const SIGN = -2
const GAP = -3
const SIGNS: Readonly<Record<string, number>> = { '*': STAR, '?': SIGN }

/** A word to look for, as runs of one letter; `least` is how long each run must be. */
export type Spelling = {
  term: string
  units: readonly number[]
  least: readonly number[]
  /** It must be a whole word; else it may be part of one. */
  isWhole: boolean
  /** It counts only where a figure or sign stands for a letter. */
  isFigured: boolean
}

/** From the notation of the word list, with its choices expanded. */
export function spellingOf(notation: string, isFigured = false): Spelling {
  const isWhole = !notation.startsWith('~')
  const term = isWhole ? notation : notation.slice(1)
  return { ...runsOf([...term].map((char) => SIGNS[char] ?? char.charCodeAt(0))), term, isWhole, isFigured }
}

/** With a sign or a blank between its letters. */
export function spelledOut(term: string): Spelling {
  const units = [...term].flatMap((char) => [GAP, char.charCodeAt(0)]).slice(1)
  return { term, units, least: units.map(() => 1), isWhole: true, isFigured: false }
}

function runsOf(codes: readonly number[]): Pick<Spelling, 'units' | 'least'> {
  const units: number[] = []
  const min: number[] = []
  for (const code of codes) {
    if (units.at(-1) === code) min[min.length - 1]!++
    else {
      units.push(code)
      min.push(1)
    }
  }
  return { units, least: min }
}

/** In words of this length a star may stand for an inner vowel; shorter ones would match formulas. */
const MIN_STARRED = 5
const VOWELS = new Set([...'aeiou'].map((char) => char.charCodeAt(0)))

const isStarrable = ({ term, units }: Spelling, index: number): boolean =>
  index > 0 && index < units.length - 1 && term.length >= MIN_STARRED && VOWELS.has(units[index]!)

/** Whether a unit of a lower-case text fits the spelling at a place. */
export function fits(spelling: Spelling, index: number, code: number): boolean {
  const wanted = spelling.units[index]!
  if (code === wanted) return true
  if (CLASSES[code] === STARS) return wanted < 0 || isStarrable(spelling, index)
  return code === 32 ? wanted === GAP : wanted < STAR && code > 0 && !isOfWord(code)
}

/** Latin letters and figures: a word continues with them. Scripts without blanks have no word boundaries to respect. */
export const isOfWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 0xc0 && code < 0x250 && isLetter(code))

/** By unit: a letter's place in the alphabet from 1, STARS for what may stand for a letter, else 0. */
const CLASSES = new Uint8Array(1 << 16)
for (let code = 97; code <= 122; code++) CLASSES[code] = code - 96
const STARS = 27
CLASSES[42] = STARS
CLASSES[35] = STARS

const BITS = 5
/** How many combinations of three classes there are. */
export const THREES = 1 << (3 * BITS)

/** The last three units as a number, moved on by one unit. */
export const nextThree = (three: number, code: number): number => nextClass(three, CLASSES[code]!)
const nextClass = (three: number, one: number): number => ((three << BITS) | one) & (THREES - 1)

/** Every combination a spelling may begin with. A spelling of two runs may be followed by anything, as in `ass!`. */
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
