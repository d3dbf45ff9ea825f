import type { GuardrailId, Phase } from './guardrail'
import type { CompiledRule } from './policy-compile-rule'
import { PHASES } from './schema'

/** Rules that run together, in the order of the policy. Sets with equal keys have equal rules. */
export type RuleSet = { key: string; rules: readonly CompiledRule[] }

/** The rules of a policy, grouped by the kinds of text they run on. */
export type RuleSets = {
  of(phase: Phase): RuleSet
  /** The input rules that also run on what goes along with a request: personas, earlier answers, memories, tools. */
  accompanying: RuleSet
  /** The output rules that can hold back a streamed answer: those that read stretches of it, and those that read all. */
  streamed: { stretch: RuleSet; whole: RuleSet }
  /** The output rules that also run on the values of an answer that is JSON. */
  inJson: RuleSet
}

/** Guardrails whose finding on a part says nothing about the whole. */
const WHOLE_TEXT_ONLY: ReadonlySet<GuardrailId> = new Set([
  'max_length',
  'language',
  'topic_restriction',
  'groundedness',
])

/** Guardrails on what a user asks for. A persona gives orders, and an earlier answer may be long and about anything. */
const REQUESTS_ONLY: ReadonlySet<GuardrailId> = new Set([
  'prompt_injection',
  'jailbreak',
  'topic_restriction',
  'language',
  'max_length',
])

/** Whether a guardrail reads, of all that is sent, only what the user asks for. */
export const readsRequestsOnly = (id: GuardrailId): boolean => REQUESTS_ONLY.has(id)

/** `fingerprint` names the policy in the keys of the sets. */
export function ruleSetsOf(fingerprint: string, all: readonly CompiledRule[]): RuleSets {
  const set = (name: string, fits: (rule: CompiledRule) => boolean): RuleSet => ({
    key: `${fingerprint} ${name}`,
    rules: all.filter(fits),
  })
  const byPhase = new Map(PHASES.map((name) => [name, set(name, ({ phase }) => phase === name)]))
  const holds = ({ phase, verdict }: CompiledRule) => phase === 'output' && verdict !== 'flag'
  return {
    of: (phase) => byPhase.get(phase)!,
    accompanying: set(
      'accompanying',
      ({ phase, guardrail_id }) => phase === 'input' && !readsRequestsOnly(guardrail_id),
    ),
    streamed: {
      stretch: set('stretch', (rule) => holds(rule) && !WHOLE_TEXT_ONLY.has(rule.guardrail_id)),
      whole: set('whole', (rule) => holds(rule) && WHOLE_TEXT_ONLY.has(rule.guardrail_id)),
    },
    inJson: set('json', ({ phase, guardrail_id }) => phase === 'output' && !WHOLE_TEXT_ONLY.has(guardrail_id)),
  }
}
