import { sha256Hex } from '../kernel/crypto'
import { GUARDRAILS } from './catalogue'
import type { Inspect, Phase } from './guardrail'
import { ownConfig } from './rules'
import type { GuardrailPolicyId, GuardrailRule } from './schema'
import type { PolicyRow } from './table'

/** A rule ready to look at texts. */
export type Rule = GuardrailRule & { inspect: Inspect }

/** A policy ready to run. */
export type Policy = {
  id: GuardrailPolicyId
  /** Equal for policies that judge alike: part of what an answer is remembered by (contract 22.1). */
  fingerprint: string
  /** The rules as they are stored, for a helper that compiles its own. */
  rules: readonly GuardrailRule[]
  of(phase: Phase): readonly Rule[]
}

const NONE: readonly Rule[] = []

/** Compiles a stored policy, once each time it is read from the store. */
export function compilePolicy({ id, rules }: Pick<PolicyRow, 'id' | 'rules'>): Policy {
  const byPhase = Map.groupBy(rules.map(compileRule), ({ phase }) => phase)
  return {
    ...{ id, rules },
    fingerprint: sha256Hex(JSON.stringify([id, rules])),
    of: (phase) => byPhase.get(phase) ?? NONE,
  }
}

/** What an older release stored and this one cannot compile fails at every text, which closes what it guards. */
export function compileRule(rule: GuardrailRule): Rule {
  try {
    const guardrail = GUARDRAILS.get(rule.guardrail_id)!
    return { ...rule, inspect: guardrail.prepare(ownConfig(guardrail, rule.config)) }
  } catch (error) {
    const inspect = () => {
      throw error
    }
    return { ...rule, inspect }
  }
}
