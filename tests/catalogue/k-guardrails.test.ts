import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { hasNotBlocked, keepsItsPromises } from './support/oracle'

/*
 * Area K, guardrails: docs/attacks.md K13 and K16 stand in tests/guardrails (policies, redaction), the whole of
 * docs/attacks.md K17's table in tests/guardrails/refusals.
 */
const target = await startTarget()

const rule = (pattern: string, phase = 'input', verdict = 'flag') => ({
  guardrail_id: 'regex_match',
  phase,
  verdict,
  config: { pattern },
})
const save = (rules: object[]) => target.send('POST', 'guardrail-policies', { body: { name: 'a', rules } })
const bind = (guardrail_policy_id: string | null) =>
  target.send('PUT', `keys/${target.people.keyIds.k1}/guardrails`, { body: { guardrail_policy_id }, as: 'session' })
const ask = (prompt: string) =>
  target.send('POST', 'completions', { body: { prompt, mode: 'fast', conversation_id: null } })

test.each(["require('child_process').execSync('id')", '{{process.exit()}}', 'constructor.constructor("return 1")()'])(
  'L14 %s in a config is a text like any other',
  async (payload) => {
    const config = { terms: [payload], message: payload }
    const rules = [{ guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config }]
    const { status, body } = await save(rules)
    expect({ status, rules: body.rules }).toEqual({ status: 201, rules })
    await bind(body.id)
    expect((await ask(`Look: ${payload}`)).body.error).toMatchObject({ code: 'guardrail_blocked', message: payload })
    await bind(null)
  },
)

describe('patterns that explode elsewhere, on the way of every request (K2, K7)', () => {
  const EVIL = ['^(a+)+$', '(a|a)*b', '(.*)*x', '(x+x+)+y', '[ab]*a[ab]{100}c', 'a(?:[^z]*z)?', '(a|b)*a(a|b){12}c']

  test('are run while /health answers', async () => {
    const { status, body } = await save(EVIL.map((pattern) => rule(pattern)))
    expect(status).toBe(201)
    await bind(body.id)
    const prompts = [`${'a'.repeat(8_000)}!`, 'ab'.repeat(2_000), `${'a'.repeat(20_000)}!`, 'a short one']
    const times = ['', ' again', ' a third time', ' and once more', ' a fifth time', ' for the last time', ' or so']
    const answers = await Promise.all(prompts.flatMap((prompt) => times.map((time) => ask(prompt + time))))
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
    await bind(null)
  }, 120_000)

  test('and never held up the event loop, with every core at work', () => hasNotBlocked(target))
})

keepsItsPromises(target)
