import { describe, expect, test } from 'bun:test'
import { GUARDRAILS } from '../../src/guardrails/catalogue'
import { applyRules } from '../../src/guardrails/inspection'
import { compilePolicy } from '../../src/guardrails/policy'
import { GuardrailPolicyId, type GuardrailRule } from '../../src/guardrails/schema'
import { createHoldBack } from '../../src/guardrails/streaming'
import type { OwnerScope } from '../../src/kernel/caller'

const OWNER = 'user:ada' as OwnerScope

const about = { phase: 'output' as const, patient: true }
const base64 = (bytes: number) => Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => (at * 197 + 91) % 256))
const KEY = base64(900)
  .toString('base64')
  .match(/.{1,64}/g)!
const pem = (join: string) => ['-----BEGIN PRIVATE KEY-----', ...KEY, '-----END PRIVATE KEY-----'].join(join)
const token = (chars: number) =>
  [{ alg: 'RS256' }, { sub: 'ada', data: 'y'.repeat(chars) }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(base64(64).toString('base64url'))
    .join('.')

const rules: GuardrailRule[] = [{ guardrail_id: 'secrets', phase: 'output', verdict: 'redact', config: {} }]
const policy = await compilePolicy({ id: GuardrailPolicyId.create(), owner: OWNER, rules })

describe('a private key', () => {
  test.each<[string, string]>([
    ['as it was made', pem('\n')],
    ['on one line', pem('')],
    ['indented, as in a file of settings', pem('\n      ')],
    ['quoted, as in a letter', pem('\n> ')],
    ['in JSON', pem('\\n')],
    ['without its end', pem('\n').slice(0, -26)],
    ['of PuTTY', [`Private-Lines: ${KEY.length}`, ...KEY, `Private-MAC: ${'0f1e2d3c'.repeat(8)}`].join('\n')],
  ])('%s is found whole', async (_, key) => {
    const found = await GUARDRAILS.get('secrets')!.prepare({})(`Here: ${key}`, about)
    expect(found?.matches).toMatchObject([{ start: 6, kind: 'private_key' }])
    expect(found!.matches[0]!.end).toBeGreaterThanOrEqual(6 + key.trimEnd().length)
  })
})

describe('a secret that is longer than what is held back of a stream', () => {
  test.each<[string, string]>([
    ['a signed token', token(400)],
    ['a very long one', token(3_000)],
    ['a private key', pem('\n')],
    ['one of PuTTY', ['Private-Lines: 19', ...KEY].join('\n')],
  ])('%s is not shown, wherever it begins and however it is cut', async (_, secret) => {
    for (let before = 300; before < 700; before += 37) {
      const filler = 'The harvest was good this year. '.repeat(40)
      const answer = `${filler.slice(0, before)} here: ${secret} and so on. ${filler}`
      const whole = await applyRules(policy.of('output').rules, answer, about)
      const look = (text: string) => applyRules(policy.streamed.stretch.rules, text, about)
      const held = createHoldBack({ stretch: look, whole: null })
      let shown = ''
      for (let at = 0; at < answer.length; at += 29) shown += await held.add(answer.slice(at, at + 29))
      shown += await held.rest(whole.text)
      expect(shown).toBe(whole.text)
      expect(shown).toContain('here: [REDACTED:')
    }
  })

  test('a long word that is no secret is let out after a while', async () => {
    const held = createHoldBack({ stretch: (text) => applyRules([], text, about), whole: null })
    let shown = ''
    for (let at = 0; at < 1_000; at++) shown += await held.add('x'.repeat(40))
    expect(shown.length).toBeGreaterThan(20_000)
    expect(shown + (await held.rest('x'.repeat(40_000)))).toBe('x'.repeat(40_000))
  })
})
