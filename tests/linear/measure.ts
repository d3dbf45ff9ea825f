import { pumpedTexts } from './pumps'
import { timed } from './timed'

/** Characters of the first text: time that doubles with each is seen in so few, and would never end in more. */
const FEW = 22
/** Lengths of the further texts: a short one first, because time may grow with the cube of it. */
const LENGTHS = [800, 5_000]
/** A text that takes less is not looked at again. */
const NOTED_MS = 1.5
/** Of a text a quarter as long, linear time takes a quarter, quadratic time a sixteenth. */
const MAX_GROWTH = 9

/** Milliseconds that a pattern takes for a text, in its best of some runs, if the first takes long enough to matter. */
function timeOf(pattern: RegExp, text: string): number {
  const run = () => (pattern.global ? [...text.matchAll(pattern)] : pattern.exec(text))
  const start = performance.now()
  run()
  const first = performance.now() - start
  return first < NOTED_MS ? first : Math.min(...[1, 2, 3, 4].map(() => timed(run)))
}

/**
 * A text on which a pattern takes time that is not linear in its length, shortened, or null. The time of one test is
 * not bounded: run it where it can be killed.
 */
export function superLinear(source: string, flags: string): string | null {
  const pattern = new RegExp(source, flags)
  const grows = (at: number, chars: number): boolean => {
    const [long, short] = [chars, chars / 4].map((length) => timeOf(pattern, pumpedTexts(source, flags, length)[at]!))
    return long! > NOTED_MS && long! / short! > MAX_GROWTH
  }
  const shown = (text: string) => JSON.stringify(`${text.slice(0, 40)}…${text.slice(-3)}`)
  for (const text of pumpedTexts(source, flags, FEW)) if (timeOf(pattern, text) > NOTED_MS) return shown(text)
  for (const chars of LENGTHS) {
    for (const [at, text] of pumpedTexts(source, flags, chars).entries()) {
      if (timeOf(pattern, text) < NOTED_MS) continue
      // Bounded repeats, such as `{1,300}`, grow like that up to their bound.
      if (grows(at, chars) && grows(at, 3 * chars)) return shown(text)
    }
  }
  return null
}

/** The longest time, in milliseconds, that a pattern takes for a pumped text of this length. */
export function worstOf(source: string, flags: string, chars: number): number {
  const pattern = new RegExp(source, flags)
  return Math.max(0, ...pumpedTexts(source, flags, chars).map((text) => timeOf(pattern, text.slice(0, chars))))
}
