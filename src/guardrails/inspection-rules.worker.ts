import { compiledOf } from '../kernel/compiled'
import { answerTasks } from '../kernel/worker-pool'
import type { AboutText } from './guardrail'
import { applyRules, type Outcome } from './inspection'
import { applyEveryRuleToValue, applyRulesToValue, type EveryRuleOutcome, type ValueOutcome } from './inspection-value'
import { type CompiledRule, compileRule, weightOf } from './policy'
import type { GuardrailRule } from './schema'

/** A task for this worker process: rules to run on texts that are too long for the event loop. */
export type RulesOrder = {
  /** The process caches the compiled rules by this key and counts their memory towards `owner`. */
  key: string
  owner: string
  rules: readonly GuardrailRule[]
  about: AboutText
} & RulesInput

/** The input of the rules: texts, a JSON value, or a value for which the findings of every rule are requested. */
export type RulesInput = { texts: readonly string[] } | { value: unknown } | { everyRuleOn: unknown }

export type RulesAnswer = readonly Outcome[] | ValueOutcome | EveryRuleOutcome

async function applied(input: RulesOrder, rules: readonly CompiledRule[]): Promise<RulesAnswer> {
  const about = { ...input.about, patient: true }
  if ('value' in input) return applyRulesToValue(rules, input.value, about)
  if ('everyRuleOn' in input) return applyEveryRuleToValue(rules, input.everyRuleOn, about)
  const outcomes: Outcome[] = []
  for (const text of input.texts) outcomes.push(await applyRules(rules, text, about))
  return outcomes
}

const stored = compiledOf<readonly CompiledRule[]>('rules')

/** Compiled functions cannot be sent to a process, so it compiles the rules itself, once per key. */
function compiledRules({ key, owner, rules }: RulesOrder): readonly CompiledRule[] {
  const known = stored.get(key)
  if (known) return known
  const compiled = rules.map(compileRule)
  stored.put(key, compiled, { owner, weight: weightOf(compiled) })
  return compiled
}

answerTasks((input: RulesOrder) => applied(input, compiledRules(input)))
