import { blockedBy, firingOf, type Outcome } from './inspection-outcome'
import type { CompiledRule } from './policy-compile-rule'
import { thresholdOf } from './policy-rule-config'
import type { EngineOpinion } from './second-look-engine-opinion'

/** How often one run may still ask an engine; every second look of the run takes from it. */
export type SecondLookBudget = { left: number }

/** A run waits for each question, whatever its texts and tools, so there are few. */
export const newBudget = (): SecondLookBudget => ({ left: 4 })

/** What a second look reads of an outcome, and adds to. */
export type Reviewable = Pick<Outcome, 'text' | 'firings' | 'blocked' | 'doubts'>

/**
 * Asks an engine about the rules that let a text pass without being sure: one question a text, as the rules left it.
 * The engine can only add firings to theirs, so that no text can talk itself free.
 */
export function createSecondLook(opinion: EngineOpinion | null) {
  return async function secondLook<O extends Reviewable>(
    rules: readonly CompiledRule[],
    outcome: O,
    budget: SecondLookBudget,
    signal: AbortSignal,
  ): Promise<O> {
    const open = outcome.doubts.filter(({ index }) => !outcome.firings.some((one) => isOf(one, rules[index]!)))
    if (!opinion || !open.length || budget.left <= 0) return outcome
    budget.left--
    const { start, end } = open[0]!
    const doubting = open.map(({ index }) => rules[index]!)
    const statements = doubting.map(({ question }) => question!)
    const sure = await opinion({ text: outcome.text, start, end, statements }, signal)
    if (!sure) return outcome
    const firings = [...outcome.firings]
    for (const [index, rule] of doubting.entries()) {
      if (sure[index]! < thresholdOf(rule)) continue
      const detail = `an engine confirms the finding (${sure[index]!.toFixed(2)})`
      firings.push(firingOf(rule, detail))
      if (rule.verdict === 'block') return { ...outcome, firings, blocked: blockedBy(rule, { detail, matches: [] }) }
    }
    return { ...outcome, firings }
  }
}

const isOf = (firing: Outcome['firings'][number], { guardrail_id, verdict }: CompiledRule): boolean =>
  firing.guardrail_id === guardrail_id && firing.verdict === verdict
