import { GUARDRAILS } from './catalogue'
import type { Inspect } from './guardrail'
import { detectorConfig } from './policy-rule-config'
import type { GuardrailRule } from './schema'

/** A stored rule with its guardrail ready to inspect texts. */
export type CompiledRule = GuardrailRule & {
  inspect: Inspect
  /** The statement that an engine may be asked about where the rule is unsure. */
  question?: string
}

/** A rule that an older release stored and this one cannot compile fails at every text, so it fails closed. */
export function compileRule(rule: GuardrailRule): CompiledRule {
  try {
    const guardrail = GUARDRAILS.get(rule.guardrail_id)!
    const config = detectorConfig(guardrail, rule.config)
    const question = guardrail.question?.(config)
    return {
      ...rule,
      inspect: guardrail.prepare(config, rule.verdict),
      ...(question === undefined ? {} : { question }),
    }
  } catch (error) {
    const inspect = () => {
      throw error
    }
    return { ...rule, inspect }
  }
}

/** Bytes of a rule besides what its guardrail says of itself: its config, kept in several forms. */
const BASE_BYTES = 2_048
const BYTES_A_CHAR = 24

/** Bytes that compiled rules keep in memory, estimated. */
export const weightOf = (rules: readonly CompiledRule[]): number =>
  rules.reduce(
    (sum, { config, inspect }) =>
      sum + BASE_BYTES + BYTES_A_CHAR * JSON.stringify(config).length + (inspect.weight ?? 0),
    0,
  )
