import { describe, expect, test } from 'bun:test'
import { createGuard } from '../../src/guardrails/guard'
import type { Inspect } from '../../src/guardrails/guardrail'
import { createRuleRunner } from '../../src/guardrails/inspection-runner'
import type { CompiledPolicy, CompiledRule, RuleSet } from '../../src/guardrails/policy'
import { GuardrailPolicyId } from '../../src/guardrails/schema'
import type { EngineOpinion, Question } from '../../src/guardrails/second-opinion'

const signal = new AbortController().signal
// Patient: on a thread, where a busy machine sends it, the rule below would be the real one.
const about = { systemPrompt: null, sources: [], readJson: null, patient: true }

/** Is unsure of every zeppelin, and finds nothing. */
const inspect: Inspect = (text, { unsure }) => {
  for (const { index } of text.matchAll(/zeppelin \d+/g)) unsure?.({ start: index, end: index + 10 })
  return null
}
const rule: CompiledRule = {
  guardrail_id: 'content_safety',
  phase: 'output',
  verdict: 'block',
  config: {},
  inspect,
  question: 'speaks of airships',
}
const setOf = (key: string, ...rules: CompiledRule[]): RuleSet => ({ key, rules })
const policy: CompiledPolicy = {
  id: GuardrailPolicyId.create(),
  fingerprint: 'one',
  of: () => setOf('all', rule),
  accompanying: setOf('accompanying'),
  inJson: setOf('json', rule),
  streamed: { stretch: setOf('stretch', rule), whole: setOf('whole') },
}

/** Streams an answer through the guard, with `sureOf` as the engine's opinion of its doubts. */
async function streamed(answer: string, sureOf: (question: Question) => number | null) {
  const requests: string[] = []
  const opinion: EngineOpinion = async (question) => {
    requests.push(question.text.slice(question.start, question.end))
    const sure = sureOf(question)
    return sure === null ? null : [sure]
  }
  const held = createGuard(policy, createRuleRunner(opinion), 'user:ada' as never).holdBack(about, signal)!
  let shown = ''
  for (let at = 0; at < answer.length && !held.blocked(); at += 40) shown += await held.add(answer.slice(at, at + 40))
  return { shown, asked: requests, blocked: held.blocked() }
}

const plain = 'The harbour lay still in the evening light, and nobody spoke. '.repeat(12)

describe('a streamed answer that the rules are unsure of', () => {
  test('is stopped before its passage is shown where an engine is sure', async () => {
    const { shown, asked: requests, blocked } = await streamed(`${plain}zeppelin 1 came. ${plain}`, () => 0.95)
    expect(requests).toEqual(['zeppelin 1'])
    expect(blocked?.guardrailId).toBe('content_safety')
    expect(shown).not.toContain('zeppelin')
    expect(plain.startsWith(shown)).toBe(true)
  })

  test.each([0.2, null])('goes on where the engine says %p, and is asked about once', async (sure) => {
    const { shown, asked: requests, blocked } = await streamed(`${plain}zeppelin 1 came. ${plain}${plain}`, () => sure)
    expect({ requests, blocked }).toEqual({ requests: ['zeppelin 1'], blocked: null })
    expect(shown).toContain('zeppelin 1 came.')
  })

  test('waits for four opinions at most', async () => {
    const answer = Array.from({ length: 7 }, (_, at) => `zeppelin ${at} came. ${plain}`).join('')
    const { asked: requests, blocked } = await streamed(answer, () => 0.2)
    expect({ requests: requests.length, blocked }).toEqual({ requests: 4, blocked: null })
  })
})
