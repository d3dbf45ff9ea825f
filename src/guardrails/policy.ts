import { compiledOf } from '../kernel/compiled'
import { sha256Hex } from '../kernel/crypto'
import { nextTurn } from '../kernel/turns'
import { GUARDRAILS } from './catalogue'
import type { GuardrailId, Inspect, Phase } from './guardrail'
import { ownConfig } from './rules'
import { type GuardrailPolicyId, type GuardrailRule, PHASES } from './schema'
import type { PolicyRow } from './table'

/** A rule ready to look at texts. */
export type Rule = GuardrailRule & {
  inspect: Inspect
  /** What an engine may be asked where the rule is unsure. */
  question?: string
}

/** Rules that are asked together, in their order. Equal keys, equal rules. */
export type RuleSet = { key: string; rules: readonly Rule[] }

/** A policy ready to run. */
export type Policy = {
  id: GuardrailPolicyId
  /** Equal for policies that judge alike: part of what an answer is remembered by (contract 22.1). */
  fingerprint: string
  of(phase: Phase): RuleSet
  /** Rules on input that ask what a text holds and not what somebody wants: for what goes along with a prompt. */
  brought: RuleSet
  /** Of the rules that can hold an answer back, those that judge it stretch by stretch, and those that judge it whole. */
  streamed: { stretch: RuleSet; whole: RuleSet }
  /** Rules on answers that can be asked about the values in one, when it is JSON. */
  inJson: RuleSet
}

/** What these say of a part is not what they say of the whole. */
const OF_THE_WHOLE: ReadonlySet<GuardrailId> = new Set(['max_length', 'language', 'topic_restriction', 'groundedness'])

/** What these say is about a request: a persona gives orders, an answer may be long and about anything. */
const OF_REQUESTS: ReadonlySet<GuardrailId> = new Set([
  ...(['prompt_injection', 'jailbreak', 'topic_restriction', 'language', 'max_length'] as const),
])

/** Whether a check reads, of what is sent, what the user asks for alone. */
export const isOfRequests = (id: GuardrailId): boolean => OF_REQUESTS.has(id)

const kept = compiledOf<Policy>('guardrail policy')
const underWay = new Map<string, Promise<Policy>>()

type Stored = Pick<PolicyRow, 'id' | 'owner' | 'rules'>

/** The policy as it was compiled; undefined where it is to be compiled again. */
export function compiledPolicy(id: GuardrailPolicyId, fingerprint: string): Policy | undefined {
  const known = kept.get(id)
  return known?.fingerprint === fingerprint ? known : undefined
}

/** After it was deleted or changed: nothing of it is kept. */
export const dropPolicy = (id: GuardrailPolicyId): void => kept.drop(id)

/** A stored policy compiled; once, however often it is read from the store and however many ask at once. */
export async function compilePolicy(row: Stored): Promise<Policy> {
  const fingerprint = sha256Hex(JSON.stringify([row.id, row.rules]))
  const known = compiledPolicy(row.id, fingerprint)
  if (known) return known
  const begun = underWay.get(fingerprint) ?? compile(row, fingerprint)
  underWay.set(fingerprint, begun)
  try {
    return await begun
  } finally {
    underWay.delete(fingerprint)
  }
}

/** A rule in each turn of the event loop (I28). */
async function compile({ id, owner, rules }: Stored, fingerprint: string): Promise<Policy> {
  const ready: Rule[] = []
  for (const rule of rules) {
    ready.push(compileRule(rule))
    await nextTurn()
  }
  const policy = compiled(id, fingerprint, ready)
  kept.put(id, policy, { owner, weight: weightOf(ready) })
  return policy
}

/** What each rule comes to besides what its check says of itself: its words, written out several times over. */
const BASE_BYTES = 2_048
const BYTES_A_CHAR = 24

/** In bytes, about. */
export const weightOf = (rules: readonly Rule[]): number =>
  rules.reduce(
    (sum, { config, inspect }) =>
      sum + BASE_BYTES + BYTES_A_CHAR * JSON.stringify(config).length + (inspect.weight ?? 0),
    0,
  )

function compiled(id: GuardrailPolicyId, fingerprint: string, all: readonly Rule[]): Policy {
  const set = (name: string, fits: (rule: Rule) => boolean): RuleSet => ({
    key: `${fingerprint} ${name}`,
    rules: all.filter(fits),
  })
  const byPhase = new Map(PHASES.map((name) => [name, set(name, ({ phase }) => phase === name)]))
  const holds = ({ phase, verdict }: Rule) => phase === 'output' && verdict !== 'flag'
  return {
    ...{ id, fingerprint },
    of: (phase) => byPhase.get(phase)!,
    brought: set('brought', ({ phase, guardrail_id }) => phase === 'input' && !OF_REQUESTS.has(guardrail_id)),
    streamed: {
      stretch: set('stretch', (rule) => holds(rule) && !OF_THE_WHOLE.has(rule.guardrail_id)),
      whole: set('whole', (rule) => holds(rule) && OF_THE_WHOLE.has(rule.guardrail_id)),
    },
    inJson: set('json', ({ phase, guardrail_id }) => phase === 'output' && !OF_THE_WHOLE.has(guardrail_id)),
  }
}

/** What an older release stored and this one cannot compile fails at every text, which closes what it guards. */
export function compileRule(rule: GuardrailRule): Rule {
  try {
    const guardrail = GUARDRAILS.get(rule.guardrail_id)!
    const config = ownConfig(guardrail, rule.config)
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
