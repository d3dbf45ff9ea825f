import { vendorMeantBy } from './vendors'

/** The result of trying a backtracking pattern before it is saved. */
export type CheckedPattern =
  | { is: 'fine' | 'vendors' | 'late' }
  /** The pattern takes far longer on `text` than a rule may. */
  | { is: 'endless'; text: string }
  /** The engine does not know the syntax; `problem` is half a sentence. */
  | { is: 'unknown'; problem: string }

/** Matches the pattern with a text; null when `isOver` ended the attempt. */
export type Attempt = (text: string, isOver: () => boolean) => boolean | null

/** Six times the run-time budget of rules, because machines differ in speed. */
const MOST_MS = 300
/** With fewer calls of `isOver` than this, the machine was slow and not the pattern. */
const FEWEST_LOOKS = 50

/** Lengths of test texts: the short one reveals exponential time, the long one quadratic time. */
const REPEATS = [32, 6_000]
const MOST_PIECES = 8

/** Tries a pattern on texts that make patterns backtrack and on vendor names, for at most `budgetMs`. */
export function checkPattern(pattern: string, attempt: Attempt, budgetMs: number): CheckedPattern {
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

/** Repetitions of the pattern's own letters and words, each with a last character that prevents a match. */
function probesFor(pattern: string): string[] {
  const letters = pattern.replace(/\\./g, '').match(/[\p{L}\p{N} _-]/gu) ?? []
  const words = pattern.match(/\p{L}{2,}/gu) ?? []
  const pieces = [...new Set(['a', '0', ' ', ...letters.slice(0, MOST_PIECES), ...words.slice(0, MOST_PIECES)])]
  return pieces.flatMap((piece) => REPEATS.map((times) => `${piece.repeat(Math.ceil(times / piece.length))}\u0001`))
}
