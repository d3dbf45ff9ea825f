import type { OwnerScope } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import { createLru } from '../kernel/read-cache'
import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { type AboutText, TooSlow } from './guardrail'
import { applyRules, cleanOutcome, failClosed, type Outcome, UNCHECKED } from './inspection'
import type { RulesAnswer, RulesInput, RulesOrder } from './inspection-rules.worker.ts'
import { applyEveryRuleToValue, applyRulesToValue, type EveryRuleOutcome, type ValueOutcome } from './inspection-value'
import type { RuleSet } from './policy'
import { createSecondOpinion, type EngineOpinion, type Reviewable, type SecondOpinionBudget } from './second-opinion'

/** Maximum number of characters read on the event loop, about four milliseconds with all rules. */
const MAX_ON_LOOP = 8_192

/** One piece of work, as a function for the event loop and as an equivalent task for a worker process. */
type Work<Answer> = {
  /** Number of characters to read. */
  length: number
  onLoop(): Promise<Answer>
  input: RulesInput
  /** The result when the process fails or times out. */
  failClosed(): Answer
}

/** Runs rules over short texts on the event loop. Long texts and slow rules run in a worker process. */
function createLoopOrProcess() {
  const pool = createWorkerPool<RulesOrder, RulesAnswer>({
    script: new URL('./inspection-rules.worker.ts', import.meta.url),
    // Two processes: an owner who sends long texts to slow rules occupies one, and the other serves everyone else.
    max: 2,
    each: 1,
    idleMs: 60_000,
  })

  /** @throws the signal's reason when the caller has disconnected. */
  return async function run<Answer extends RulesAnswer>(inspection: Inspection, work: Work<Answer>): Promise<Answer> {
    if (work.length > MAX_ON_LOOP) return inProcess(inspection, work)
    try {
      return await work.onLoop()
    } catch (error) {
      if (error instanceof TooSlow) return inProcess(inspection, work)
      throw error
    }
  }

  async function inProcess<Answer extends RulesAnswer>(
    { set: { key, rules }, about, who, signal }: Inspection,
    { length, input, failClosed }: Work<Answer>,
  ): Promise<Answer> {
    const params = { ...input, key, owner: who, rules: rules.map(({ inspect: _, ...rule }) => rule), about }
    try {
      // The timeout of a process: ten times the time of 32 ordinary patterns for a text of that length. Extraordinary
      // rules occupy their process for a few seconds at most.
      return (await pool.run(params, { timeoutMs: Math.min(10_000, 3_000 + length / 64), signal, who })) as Answer
    } catch (error) {
      if (error instanceof WorkerFailure) return failClosed()
      throw error
    }
  }
}

const MAX_CLEAN = 20_000

/**
 * The rules, their subject and the owner. Processes take turns by `who`. Without `budget` there is no second look, so
 * no engine is asked.
 */
export type Inspection = {
  set: RuleSet
  about: AboutText
  who: OwnerScope
  signal: AbortSignal
  budget?: SecondOpinionBudget
}

export type RuleRunner = ReturnType<typeof createRuleRunner>

/**
 * The only way to run rules. Runs them on the event loop or in a process, caches clean texts, and takes a second look
 * if rules are unsure. Fails closed (docs/api.md 12).
 */
export function createRuleRunner(opinion: EngineOpinion | null = null) {
  const review = createSecondOpinion(opinion)
  const run = createLoopOrProcess()
  const clean = createLru<string, true>(MAX_CLEAN)

  return { texts, recurringTexts, value, everyRule, secondLook }

  async function texts(inspection: Inspection, all: readonly string[]): Promise<readonly Outcome[]> {
    const { rules } = inspection.set
    const outcomes = await run<readonly Outcome[]>(inspection, {
      length: all.reduce((sum, { length }) => sum + length, 0),
      onLoop: () => Promise.all(all.map((text) => applyRules(rules, text, inspection.about))),
      input: { texts: all },
      failClosed: () => all.map((text) => failClosed(rules, text)),
    })
    // One blocked text rejects them all, so no engine is asked about the others.
    if (outcomes.some(({ blocked }) => blocked)) return outcomes
    return Promise.all(outcomes.map((outcome) => secondLook(inspection, outcome)))
  }

  /** Like `texts`, for recurring texts such as the turns of a conversation. Caches clean texts. */
  async function recurringTexts(inspection: Inspection, all: readonly string[]): Promise<readonly Outcome[]> {
    const together = sha256Hex(`${inspection.set.key}\n${JSON.stringify(all)}`)
    if (clean.has(together)) return all.map(cleanOutcome)
    const keys = all.map((text) => sha256Hex(`${inspection.set.key}\n${text}`))
    const isKnown = keys.map((key) => clean.has(key))
    const unknown = all.filter((_, index) => !isKnown[index])
    const left = [...(await texts(inspection, unknown))]
    const outcomes = all.map((text, index) => {
      const outcome = isKnown[index] ? cleanOutcome(text) : left.shift()!
      if (!outcome.firings.length) clean.set(keys[index]!, true)
      return outcome
    })
    if (outcomes.every(({ firings }) => !firings.length)) clean.set(together, true)
    return outcomes
  }

  /** The outcome of a JSON value. */
  async function value(inspection: Inspection, input: unknown): Promise<ValueOutcome> {
    const { rules } = inspection.set
    const text = textOf(input)
    const outcome = await run<ValueOutcome>(inspection, {
      length: text.length,
      onLoop: () => applyRulesToValue(rules, input, inspection.about),
      input: { value: input },
      failClosed: () => {
        const { spans: _, ...closed } = failClosed(rules, text)
        return { ...closed, value: closed.text === text ? input : closed.text }
      },
    })
    return secondLook(inspection, outcome)
  }

  /** The findings of every rule in a text or a JSON value, for trying out a policy. Asks no engine. */
  function everyRule(inspection: Inspection, input: unknown): Promise<EveryRuleOutcome> {
    const { rules } = inspection.set
    const text = textOf(input)
    return run<EveryRuleOutcome>(inspection, {
      length: text.length,
      onLoop: () => applyEveryRuleToValue(rules, input, inspection.about),
      input: { everyRuleOn: input },
      failClosed: () => {
        const left = failClosed(rules, text).text
        return { value: left === text ? input : left, findings: rules.map(() => UNCHECKED) }
      },
    })
  }

  /** Adds an engine's opinion on the doubts. Returns the same outcome when there is nothing to ask. */
  async function secondLook<O extends Reviewable>({ set, budget, signal }: Inspection, outcome: O): Promise<O> {
    if (!budget || !outcome.doubts.length || outcome.blocked) return outcome
    return review(set.rules, outcome, budget, signal)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
