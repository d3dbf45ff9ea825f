import { LRUCache } from 'lru-cache'
import { answerTasks } from '../../kernel/worker-pool'
import { type Backtracker, openBacktracker, UnknownSyntax } from './backtracking'
import { type CheckedPattern, checkPattern, ownMs } from './check'
import { backtrackingExpression, compilePattern, type RulePattern } from './rule-pattern'

/**
 * Patterns to match with `text`, or only to compile when it is null, or one pattern to check before it is saved.
 * Backtracking patterns stop by themselves after `budgetMs`. Others that take too long end with the process.
 */
export type PatternTask = { patterns: readonly string[]; text: string | null; budgetMs: number } | CheckTask
type CheckTask = { check: string; budgetMs: number }

/** Estimated bytes of a cache entry besides its pattern. */
const BASE_BYTES = 2_048
const stored = new LRUCache<string, RulePattern>({
  maxSize: 24 * 1024 * 1024,
  sizeCalculation: ({ weight }) => BASE_BYTES + weight,
})
let backtracker: Promise<Backtracker> | null = null

/** Share of the budget after which no further pattern of a list begins. The last one has the remaining time. */
const LAST_BEGUN = 0.7

/** Whether each pattern matches. Null for a pattern that ran out of time, and for those after it. */
async function answers({ patterns, text, budgetMs }: Exclude<PatternTask, CheckTask>) {
  const [until, last] = [performance.now() + budgetMs, performance.now() + budgetMs * LAST_BEGUN]
  const ready: ((text: string) => boolean | null)[] = []
  for (const source of patterns) ready.push(await testerOf(source, () => performance.now() > until))
  return text === null ? [] : ready.map((test) => (performance.now() > last ? null : test(text)))
}

async function testerOf(source: string, isOver: () => boolean): Promise<(text: string) => boolean | null> {
  const pattern = stored.get(source) ?? compilePattern(source)
  stored.set(source, pattern)
  if (Number.isFinite(pattern.steps)) return pattern.test
  const engine = await engineOpen()
  return (text) => engine.test(backtrackingExpression(source), text, isOver)
}

function engineOpen(): Promise<Backtracker> {
  backtracker ??= openBacktracker()
  return backtracker
}

async function checked({ check: source, budgetMs }: CheckTask): Promise<{ checked: CheckedPattern; ms: number }> {
  const engine = await engineOpen()
  const expression = backtrackingExpression(source)
  const from = ownMs()
  const done = (outcome: CheckedPattern) => ({ checked: outcome, ms: ownMs() - from })
  try {
    return done(checkPattern(source, (text, isOver) => engine.test(expression, text, isOver), budgetMs))
  } catch (error) {
    if (error instanceof UnknownSyntax) return done({ is: 'unknown', problem: error.message })
    throw error
  }
}

answerTasks(async (input: PatternTask) => {
  try {
    return 'check' in input ? await checked(input) : await answers(input)
  } catch (error) {
    // The error may have left the engine broken, so the next task opens a new one.
    backtracker = null
    throw error
  }
})
