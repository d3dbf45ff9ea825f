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

/** Whether a unit of a text in small letters is, at a place of a spelling, what is wanted there. */
export function isWanted(code: number, wanted: number): boolean {
  if (wanted >= 0) return code === wanted
  if (wanted === STAR) return code === 42 || code === 35
  return code === 32 ? wanted === GAP : code > 0 && !isOfWord(code)
}

/** Letters of Latin script and figures: a word goes on with them. In other scripts words need not be apart. */
export const isOfWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 0xc0 && code < 0x250 && isLetter(code))

/** By unit: a letter's place in the alphabet, from 1; 0 is what is no letter. */
const CLASSES = new Uint8Array(1 << 16)
for (let code = 97; code <= 122; code++) CLASSES[code] = code - 96

/** Three units as a number of fifteen bits, the next after those before. */
export const nextThree = (three: number, code: number): number => ((three << 5) | CLASSES[code]!) & (THREES - 1)
export const THREES = 1 << 15

/** The three units it begins with; what has only two is followed by no letter. */
export const threeOf = ({ units }: Spelling): number =>
  [0, 1, 2].reduce((three, place) => nextThree(three, units[place] ?? 0), 0)
