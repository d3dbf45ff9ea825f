import { LRUCache } from 'lru-cache'
import { type Backtracker, openBacktracker, UnknownSyntax } from '../kernel/backtracking'
import type { HelperAnswer } from '../kernel/helper'
import { backtrackingExpression, compilePattern, type RulePattern } from './pattern'
import { type Vetted, vet } from './vet'

/**
 * Patterns that compile, and a text to try them on; null only has them compiled. Or one to be tried before it is
 * saved. Those that have to backtrack stop by themselves after `budgetMs`, the others end with the thread.
 */
export type MatchOrder = { patterns: readonly string[]; text: string | null; budgetMs: number } | VetOrder
type VetOrder = { vet: string; budgetMs: number }

declare const self: Worker

/** What an entry comes to besides what its pattern says of itself. */
const BASE_BYTES = 2_048
const kept = new LRUCache<string, RulePattern>({
  maxSize: 24 * 1024 * 1024,
  sizeCalculation: ({ weight }) => BASE_BYTES + weight,
})
let backtracker: Promise<Backtracker> | null = null

self.onmessage = async ({ data }: MessageEvent<MatchOrder>) => {
  self.postMessage(await answered(data))
}

async function answered(
  order: MatchOrder,
): Promise<HelperAnswer<readonly (boolean | null)[] | { vetted: Vetted; ms: number }>> {
  try {
    return { ok: true, answer: 'vet' in order ? await vetted(order) : await answers(order) }
  } catch (error) {
    // What broke the machine may have left it broken.
    backtracker = null
    return { ok: false, problem: String(error) }
  }
}

/** Null for one that had no answer in time. */
async function answers({ patterns, text, budgetMs }: Exclude<MatchOrder, VetOrder>) {
  const until = performance.now() + budgetMs
  const ready: ((text: string) => boolean | null)[] = []
  for (const source of patterns) ready.push(await testerOf(source, () => performance.now() > until))
  return text === null ? [] : ready.map((test) => test(text))
}

async function testerOf(source: string, isOver: () => boolean): Promise<(text: string) => boolean | null> {
  const pattern = kept.get(source) ?? compilePattern(source)
  kept.set(source, pattern)
  if (Number.isFinite(pattern.steps)) return pattern.test
  const engine = await engineOpen()
  return (text) => engine.test(backtrackingExpression(source), text, isOver)
}

function engineOpen(): Promise<Backtracker> {
  backtracker ??= openBacktracker()
  return backtracker
}

async function vetted({ vet: source, budgetMs }: VetOrder): Promise<{ vetted: Vetted; ms: number }> {
  const engine = await engineOpen()
  const expression = backtrackingExpression(source)
  const from = performance.now()
  const done = (outcome: Vetted) => ({ vetted: outcome, ms: performance.now() - from })
  try {
    return done(vet(source, (text, isOver) => engine.test(expression, text, isOver), budgetMs))
  } catch (error) {
    if (error instanceof UnknownSyntax) return done({ is: 'unknown', problem: error.message })
    throw error
  }
}
