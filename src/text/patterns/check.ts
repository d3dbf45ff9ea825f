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

/** Twice the run-time budget of rules, because machines differ in speed. */
const MOST_MS = 100

/** Lengths of test texts: the short one reveals exponential time, the long one quadratic time. */
const REPEATS = [32, 2_000]
const MOST_PIECES = 8

/** Tries a pattern on texts that make patterns backtrack and on vendor names, for at most `budgetMs` of this thread's own time. */
export function checkPattern(pattern: string, attempt: Attempt, budgetMs: number): CheckedPattern {
  const until = ownMs() + budgetMs
  const isLate = () => ownMs() > until
  for (const text of probesFor(pattern)) {
    const isOver = patience(isLate)
    // The engine may answer late without having asked whether it may go on.
    if (attempt(text, isOver) !== null && !isOver()) continue
    return isLate() ? { is: 'late' } : { is: 'endless', text }
  }
  const isVendors = vendorMeantBy(pattern, (name) => attempt(name, patience(isLate)) ?? false) !== null
  return { is: isLate() ? 'late' : isVendors ? 'vendors' : 'fine' }
}

function patience(isLate: () => boolean): () => boolean {
  const from = ownMs()
  return () => isLate() || ownMs() - from > MOST_MS
}

/** Milliseconds that this thread has worked: what others do on a busy machine is not the pattern's fault. */
export function ownMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Repetitions of the pattern's own letters and words, each with a last character that prevents a match. */
function probesFor(pattern: string): string[] {
  const letters = pattern.replace(/\\./g, '').match(/[\p{L}\p{N} _-]/gu) ?? []
  const words = pattern.match(/\p{L}{2,}/gu) ?? []
  const pieces = [...new Set(['a', '0', ' ', ...letters.slice(0, MOST_PIECES), ...words.slice(0, MOST_PIECES)])]
  return pieces.flatMap((piece) => REPEATS.map((times) => `${piece.repeat(Math.ceil(times / piece.length))}\u0001`))
}
