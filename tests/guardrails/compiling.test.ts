import { describe, expect, test } from 'bun:test'
import { compilePolicy, validateRules } from '../../src/guardrails/policy'
import { GuardrailPolicyId, type GuardrailRule } from '../../src/guardrails/schema'
import type { OwnerScope } from '../../src/kernel/caller'
import { createWorld } from '../support/world'
import { onPattern } from './support'

const OWNER = 'user:ada' as OwnerScope

const RULES = Array.from({ length: 32 }, (_, place) => onPattern('input', 'flag', `[^\\p{L}]{1,90}${place}`))

/** How often the event loop ran other work until `work` was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  await work
  isOver = true
  return turns
}

describe('compiling the rules of a policy (I28)', () => {
  test('lets the event loop run other work after each rule, when a policy is saved and when it is read', async () => {
    expect(await turnsDuring(validateRules(RULES))).toBeGreaterThanOrEqual(RULES.length)
    const stored = { id: GuardrailPolicyId.create(), owner: OWNER, rules: RULES as GuardrailRule[] }
    expect(await turnsDuring(compilePolicy(stored))).toBeGreaterThanOrEqual(RULES.length)
  })

  test('is done once for all requests at the same time', async () => {
    const stored = { id: GuardrailPolicyId.create(), owner: OWNER, rules: RULES as GuardrailRule[] }
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => compilePolicy(stored)))
    expect(others.every((policy) => policy === first)).toBe(true)
  })

  test.each(['\\p{L}'.repeat(100), '[\\p{L}\\p{N}]'.repeat(36), '[^\\p{L}]{1,300}'])(
    'is refused where a single pattern would take long: %.20s',
    async (pattern) => {
      await expect(validateRules([onPattern('input', 'flag', pattern)])).rejects.toThrow(/is too large|more classes/)
    },
  )

  test('is done before the transaction that saves the policy, so that other writers need not wait', async () => {
    const ada = await (await createWorld()).person({ ofOrg: true })
    const body = { name: 'All of it', rules: RULES }
    const [saved, ...reads] = await Promise.all([
      ada.send('POST', 'guardrail-policies', body),
      ...Array.from({ length: 5 }, (_, place) => ada.send('POST', 'guardrail-policies', { name: `Small ${place}` })),
    ])
    expect([saved, ...reads].map(({ status }) => status)).toEqual(Array(6).fill(201))
    const all = (await ada.send('GET', 'guardrail-policies')).body.guardrail_policies
    // Lists are newest first: the large policy was sent first and saved last.
    expect(all[0].name).toBe('All of it')
    const patched = await ada.send('PATCH', `guardrail-policies/${saved.body.id}`, { name: 'Some', scope: 'personal' })
    const [row] = (await ada.send('GET', `audit?request_id=${patched.headers.get('x-request-id')}`)).body
    expect(row.inputSummary.fields).toEqual(['name'])
  })
})
