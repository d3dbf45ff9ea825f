import { describe, expect, test } from 'bun:test'
import type { GuardrailId } from '../../src/guardrails/guardrail'
import { applyRulesToValue, decodedForms } from '../../src/guardrails/inspection-value'
import { compileRule } from '../../src/guardrails/policy'
import { effortOf } from '../support/effort'

const about = { phase: 'tool_call', tool: { name: 'note' }, patient: true } as const
const outcomeOf = (id: GuardrailId, value: unknown, config: object = {}, verdict: 'redact' | 'block' = 'redact') => {
  const rule = { guardrail_id: id, phase: 'tool_call', verdict, config: { ...config } } as const
  return applyRulesToValue([compileRule(rule)], value, about)
}
const inPercents = (text: string) => text.replace(/[^a-z]/gi, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
const inEscapes = (text: string) =>
  text.replace(/./g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
const inReferences = (text: string) => text.replace(/[^a-z]/gi, (sign) => `&#${sign.charCodeAt(0)};`)
const inBase64 = (text: string) => Buffer.from(text).toString('base64')

describe('arguments are read as a tool may decode them', () => {
  test.each([
    ['JSON in JSON', '{"to":"\\u0061da\\u0040example.com"}'],
    ['JSON in JSON in JSON', JSON.stringify(`{"to":"\\u0061da\\u0040example.com"}`)],
    ['a list in JSON', '["x", "ada\\u0040example.com"]'],
    ['a name in JSON', '{"ada\\u0040example.com": 1}'],
    ['percent signs', 'https://site.example/?e=ada%40example.com'],
    ['percent signs twice', 'https://site.example/?e=ada%2540example.com'],
    ['escapes in what is no JSON', "post('ada\\u0040example.com')"],
    ['short escapes', 'ada\\x40example.com'],
    ['braced escapes', 'ada\\u{40}example.com'],
    ['character references', '<a>ada&#64;example&#x2e;com</a>'],
    ['named references', 'ada&commat;example&period;com'],
    ['base64', `data ${inBase64('write to ada@example.com')}`],
    ['base64 of JSON with escapes', inBase64('{"to":"ada\\u0040example.com"}')],
    ['base64 in percent signs', inPercents(inBase64('{"to":"ada@example.com"}'))],
  ])('%s: the whole string is redacted, the rest of the value stays', async (_, hidden) => {
    const value = { first: 'kept', second: [hidden, 7], third: { ok: true } }
    const { value: left, firings } = await outcomeOf('pii', value)
    expect(left).toEqual({ first: 'kept', second: ['[REDACTED:email]', 7], third: { ok: true } })
    expect(firings).toMatchObject([{ detail: 'holds e-mail address, encoded' }])
    expect((await outcomeOf('pii', value, {}, 'block')).blocked).not.toBeNull()
  })

  const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  test.each<[GuardrailId, string, string, object]>([
    ['pii', '4111 1111 1111 1111', 'credit_card', {}],
    ['secrets', `password = "${key}"`, 'api_key', {}],
    ['url_allowlist', 'https://evil.example/x', 'url', { domains: ['good.example'] }],
    ['regex_match', 'the kraken!', 'regex_match', { pattern: 'kraken!$' }],
  ])('%s finds %j in every coding', async (id, text, kind, config) => {
    for (const hidden of [inEscapes, inPercents, inReferences, inBase64].map((write) => write(text))) {
      const { value } = await outcomeOf(id, { hidden }, config)
      expect(value).toEqual({ hidden: expect.stringMatching(new RegExp(`\\[REDACTED:${kind}\\]`)) })
    }
  })

  test.each([
    ['a name', { 'ada%40example.com': 1 }, { '[REDACTED:email]': 1 }],
    ['arguments that are no JSON', 'to ada%40example.com', '[REDACTED:email]'],
    ['a number', { card: 4111111111111111 }, { card: '[REDACTED:credit_card]' }],
    ['a number with an exponent', { card: '[4.111111111111111e15]' }, { card: '[REDACTED:credit_card]' }],
    // What is not encoded is redacted in place.
    ['plain text', { to: 'ada@example.com 100%' }, { to: '[REDACTED:email] 100%' }],
    ['plain JSON', { to: '{"to":"ada@example.com"}' }, { to: '{"to":"[REDACTED:email]"}' }],
    [
      'plain beside what is escaped',
      { url: '?q=a%20b&e=ada@example.com', also: 'bob%40example.com' },
      { url: '?q=a%20b&e=[REDACTED:email]', also: '[REDACTED:email]' },
    ],
    ['the same plain and encoded', ['ada@example.com', 'ada%40example.com'], ['[REDACTED:email]', '[REDACTED:email]']],
  ])('%s', async (_, value, left) => {
    const outcome = await outcomeOf('pii', value)
    expect(outcome.value as unknown).toEqual(left)
    expect(JSON.parse(JSON.stringify(outcome.value))).toEqual(left)
  })

  test('later rules see what earlier ones left', async () => {
    const rules = [{ pattern: 'kraken' }, { pattern: 'leviathan' }].map((config) =>
      compileRule({ guardrail_id: 'regex_match', phase: 'tool_call', verdict: 'redact', config } as const),
    )
    const value = { a: 'kra%6ben', b: 'lev%69athan', c: 'kraken leviathan', d: 'plain %41' }
    expect((await applyRulesToValue(rules, value, about)).value).toEqual({
      a: '[REDACTED:regex_match]',
      b: '[REDACTED:regex_match]',
      d: 'plain %41',
      c: '[REDACTED:regex_match] [REDACTED:regex_match]',
    })
  })

  test.each([
    'Plain words, 100 % sure',
    'src/components/ApplicationRouter',
    '550e8400-e29b-41d4-a716-446655440000',
    'C:\\users\\ada',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  ])('nothing is decoded in %j', async (text) => {
    for (const id of ['pii', 'secrets'] as const) expect((await outcomeOf(id, { text })).value).toEqual({ text })
  })
})

test.each(['%41', '\\u0041', '{"a":', '["\\\\', '&#65;', 'YWRhIGFu', '%25'])(
  'time is in proportion to a hostile text of %j',
  async (piece) => {
    const text = piece.repeat(100_000 / piece.length)
    expect(await effortOf(() => decodedForms(text), 2)).toBeLessThan(500)
  },
)
