import { compiledOf } from '../kernel/compiled'
import { sha256Hex } from '../kernel/crypto'
import { nextTurn } from '../kernel/turns'
import { type CompiledRule, compileRule, weightOf } from './policy-compile-rule'
import { type RuleSets, ruleSetsOf } from './policy-rule-sets'
import type { GuardrailPolicyId } from './schema'
import type { PolicyRow } from './table'

/** A policy ready to run. Equal fingerprints find the same in the same text: part of a cache key (contract 22.1). */
export type CompiledPolicy = RuleSets & { id: GuardrailPolicyId; fingerprint: string }

const stored = compiledOf<CompiledPolicy>('guardrail policy')
const underWay = new Map<string, Promise<CompiledPolicy>>()

type Stored = Pick<PolicyRow, 'id' | 'owner' | 'rules'>

/** The policy where it is still in memory in this form; undefined where it is to be compiled again. */
export function compiledPolicy(id: GuardrailPolicyId, fingerprint: string): CompiledPolicy | undefined {
  const known = stored.get(id)
  return known?.fingerprint === fingerprint ? known : undefined
}

/** To be called when a policy was changed or deleted. */
export const dropCompiledPolicy = (id: GuardrailPolicyId): void => stored.drop(id)

/** Compiles a stored policy: once, however often it is read from the store and however many ask at once. */
export async function compilePolicy(row: Stored): Promise<CompiledPolicy> {
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

/** One rule in each turn of the event loop (I28). */
async function compile({ id, owner, rules }: Stored, fingerprint: string): Promise<CompiledPolicy> {
  const compiled: CompiledRule[] = []
  for (const rule of rules) {
    compiled.push(compileRule(rule))
    await nextTurn()
  }
  const policy = { id, fingerprint, ...ruleSetsOf(fingerprint, compiled) }
  stored.put(id, policy, { owner, weight: weightOf(compiled) })
  return policy
}
