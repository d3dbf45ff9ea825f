import type { Person, World } from '../support/world'

type WrittenRule = { guardrail_id: string; phase: string; verdict: string; config?: Record<string, unknown> }

/** A rule that looks for terms. */
export const onTerms = (phase: string, verdict: string, terms: string[], config: object = {}): WrittenRule => ({
  guardrail_id: 'blocked_terms',
  phase,
  verdict,
  config: { terms, ...config },
})

export const onPattern = (phase: string, verdict: string, pattern: string, config: object = {}): WrittenRule => ({
  guardrail_id: 'regex_match',
  phase,
  verdict,
  config: { pattern, ...config },
})

export const onKind = (guardrail_id: string, phase: string, verdict: string, config: object = {}): WrittenRule => ({
  guardrail_id,
  phase,
  verdict,
  config: { ...config },
})

/** Makes people of a world whose key is under a policy of these rules. */
export const guarded =
  (world: Pick<World, 'person'>) =>
  async (...rules: WrittenRule[]): Promise<Person> => {
    const ada = await world.person()
    await under(ada, rules)
    return ada
  }

/** Binds a new policy with these rules to the person's key; answers its id. */
export async function under(person: Person, rules: WrittenRule[]): Promise<string> {
  const input = { name: 'Under test', rules, ...(person.orgId ? { scope: 'team' } : {}) }
  const made = await person.send('POST', 'guardrail-policies', input)
  if (made.status !== 201) throw new Error(made.text)
  const bound = await person.send('PUT', `keys/${person.keyId}/guardrails`, { guardrail_policy_id: made.body.id })
  if (bound.status !== 200) throw new Error(bound.text)
  return made.body.id
}
