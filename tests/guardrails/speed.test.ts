import { expect, test } from 'bun:test'
import { GUARDRAILS } from '../../src/guardrails/catalogue'
import { judge } from '../../src/guardrails/judge'
import { compilePolicy } from '../../src/guardrails/policy'
import { GuardrailPolicyId, type GuardrailRule } from '../../src/guardrails/schema'
import { effortOf } from '../support/effort'

const CONFIGS: Record<string, Record<string, unknown>> = {
  topic_restriction: { deny: ['politics', 'medical advice'] },
  blocked_terms: { terms: Array.from({ length: 50 }, (_, n) => `code word ${n}`) },
  regex_match: { pattern: '\\b(?:secret|internal)-[a-z0-9]{4,12}\\b' },
  language: { allowed: ['en'] },
  max_length: { max_chars: 100_000 },
}
const rules = [...GUARDRAILS.values()]
  .filter(({ phases }) => phases.includes('input'))
  .map(({ id }): GuardrailRule => ({ guardrail_id: id, phase: 'input', verdict: 'flag', config: CONFIGS[id] ?? {} }))

const WORDS =
  'the quick brown fox jumps over a lazy dog while we plan our summer trip to Lisbon with friends next week please summarise'.split(
    ' ',
  )
/** Four kilobytes of prose, each time another: what was read before is remembered by some. */
function prose(seed: number): string {
  let text = ''
  for (let at = seed; text.length < 4_096; at++) text += `${WORDS[(at * 7 + seed) % WORDS.length]} `
  return text.slice(0, 4_096)
}

test('all input guardrails together read 4 KB in 2 ms', async () => {
  const set = compilePolicy({ id: GuardrailPolicyId.create(), rules }).of('input').rules
  const look = (seed: number) => judge(set, prose(seed), { phase: 'input', patient: true })
  for (let seed = 0; seed < 200; seed++) await look(seed)
  let seed = 1_000
  const tenTexts = async () => {
    for (let turn = 0; turn < 10; turn++) await look(seed++)
  }
  expect((await effortOf(tenTexts, 20)) / 10).toBeLessThanOrEqual(2)
}, 60_000)
