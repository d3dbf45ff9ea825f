import { isLetter } from '../../../kernel/injection/units'

/** What is no letter: a star, any sign, a sign or a blank. */
const STAR = -1
const SIGN = -2
const GAP = -3
const SIGNS: Readonly<Record<string, number>> = { '*': STAR, '?': SIGN }

/** A word as it is looked for: runs of a letter as one, with how long each is at the least. */
export type Spelling = {
  term: string
  units: readonly number[]
  least: readonly number[]
  /** Whether it stands alone; else it may be part of a word. */
  isWhole: boolean
  /** Whether it says something only where figures stand for letters. */
  isFigured: boolean
}

/** `~` before it is a stem, `*` is a star, `?` is any sign. */
export function spellingOf(notation: string, isFigured = false): Spelling {
  const isWhole = !notation.startsWith('~')
  const term = isWhole ? notation : notation.slice(1)
  return { ...runsOf([...term].map((char) => SIGNS[char] ?? char.charCodeAt(0))), term, isWhole, isFigured }
}

/** Letter by letter. */
export function spelledOut(term: string): Spelling {
  const units = [...term].flatMap((char) => [GAP, char.charCodeAt(0)]).slice(1)
  return { term, units, least: units.map(() => 1), isWhole: true, isFigured: false }
}

function runsOf(codes: readonly number[]): Pick<Spelling, 'units' | 'least'> {
  const units: number[] = []
  const least: number[] = []
  for (const code of codes) {
    if (units.at(-1) === code) least[least.length - 1]!++
    else {
      units.push(code)
      least.push(1)
    }
  }
  return { units, least }
}

/** In words as long as that, not in formulas, a star may stand for any vowel within. */
const LEAST_STARRED = 5
const VOWELS = new Set([...'aeiou'].map((char) => char.charCodeAt(0)))

const isStarrable = ({ term, units }: Spelling, place: number): boolean =>
  place > 0 && place < units.length - 1 && term.length >= LEAST_STARRED && VOWELS.has(units[place]!)

const isStar = (code: number): boolean => CLASSES[code] === STARS

/** Whether a unit of a text in small letters is what a spelling has at a place. */
export function fits(spelling: Spelling, place: number, code: number): boolean {
  const wanted = spelling.units[place]!
  if (code === wanted) return true
  if (isStar(code)) return wanted < 0 || isStarrable(spelling, place)
  return code === 32 ? wanted === GAP : wanted < STAR && code > 0 && !isOfWord(code)
}

/** Letters of Latin script and figures: a word goes on with them. In other scripts words need not be apart. */
export const isOfWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 0xc0 && code < 0x250 && isLetter(code))

/** By unit: a letter's place in the alphabet, from 1; what may stand for one; 0 is what is none of these. */
const CLASSES = new Uint8Array(1 << 16)
for (let code = 97; code <= 122; code++) CLASSES[code] = code - 96
const STARS = 27
CLASSES[42] = STARS
CLASSES[35] = STARS

const BITS = 5
/** How many different threes of units there are. */
export const THREES = 1 << (3 * BITS)

/** Three units as a number, the next after those before. */
export const nextThree = (three: number, code: number): number => nextClass(three, CLASSES[code]!)
const nextClass = (three: number, one: number): number => ((three << BITS) | one) & (THREES - 1)

/** The three units it may begin with; of two it can be followed by whatever may be no letter, as in `ass!`. */
export const threesOf = (spelling: Spelling): number[] =>
  [0, 1, 2].reduce<number[]>(
    (threes, place) => threes.flatMap((three) => classesAt(spelling, place).map((one) => nextClass(three, one))),
    [0],
  )

const EVERY_CLASS = Array.from({ length: STARS + 1 }, (_, one) => one)

function classesAt(spelling: Spelling, place: number): readonly number[] {
  const wanted = spelling.units[place]
  if (wanted === undefined) return EVERY_CLASS
  if (wanted === STAR) return [STARS]
  if (wanted < STAR) return [0, STARS]
  return isStarrable(spelling, place) ? [CLASSES[wanted]!, STARS] : [CLASSES[wanted]!]
}
