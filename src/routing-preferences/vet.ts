import { vendorMeantBy } from './pattern-vendors'

/** What came of trying a pattern that has to backtrack, before it is saved. */
export type Vetted =
  | { is: 'fine' | 'vendors' | 'late' }
  /** Takes far longer on this text than a rule may. */
  | { is: 'endless'; text: string }
  /** `problem` is half a sentence. */
  | { is: 'unknown'; problem: string }

/** Tries it on a text; null when `isOver` ended that. */
export type Attempt = (text: string, isOver: () => boolean) => boolean | null

/** Six times what rules have at run time, for machines differ. */
const MOST_MS = 300
/** A pattern that was asked so rarely whether it is over was not slow: the machine was. */
const FEWEST_LOOKS = 50

/** Long enough for what takes twice as long with each character, and for what takes its square. */
const REPEATS = [32, 6_000]
const MOST_PIECES = 8

/** Tries a pattern on what such patterns stumble over, and on the names it may mean, for `budgetMs` at most. */
export function vet(pattern: string, attempt: Attempt, budgetMs: number): Vetted {
  const until = performance.now() + budgetMs
  const isLate = () => performance.now() > until
  for (const text of probesFor(pattern)) {
    if (attempt(text, patience(isLate)) !== null) continue
    return isLate() ? { is: 'late' } : { is: 'endless', text }
  }
  const isVendors = vendorMeantBy(pattern, (name) => attempt(name, patience(isLate)) ?? false) !== null
  return { is: isLate() ? 'late' : isVendors ? 'vendors' : 'fine' }
}

function patience(isLate: () => boolean): () => boolean {
  const from = performance.now()
  let looks = 0
  return () => isLate() || (++looks > FEWEST_LOOKS && performance.now() - from > MOST_MS)
}

/** Their own letters and words, again and again, with an end that spoils it. */
function probesFor(pattern: string): string[] {
  const letters = pattern.replace(/\\./g, '').match(/[\p{L}\p{N} _-]/gu) ?? []
  const words = pattern.match(/\p{L}{2,}/gu) ?? []
  const pieces = [...new Set(['a', '0', ' ', ...letters.slice(0, MOST_PIECES), ...words.slice(0, MOST_PIECES)])]
  return pieces.flatMap((piece) => REPEATS.map((times) => `${piece.repeat(Math.ceil(times / piece.length))}\u0001`))
}
