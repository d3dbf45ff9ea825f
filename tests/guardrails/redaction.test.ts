import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Finding, Inspect } from '../../src/guardrails/guardrail'
import { addMatches, applyEveryRule, applyRules, withSpans } from '../../src/guardrails/inspection'
import { applyRulesToValue } from '../../src/guardrails/inspection-value'
import { type CompiledRule, compilePolicy } from '../../src/guardrails/policy'
import { GuardrailPolicyId, type GuardrailRule } from '../../src/guardrails/schema'
import { createHoldBack } from '../../src/guardrails/streaming'
import type { OwnerScope } from '../../src/kernel/caller'

const OWNER = 'user:ada' as OwnerScope

const about = { phase: 'output' as const, patient: true }

const finding =
  (pattern: RegExp, kind: string): Inspect =>
  (text): Finding | null => {
    const matches = [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
      start: index,
      end: index + found.length,
      kind,
    }))
    return matches.length ? { detail: `holds ${kind}`, matches } : null
  }

const rule = (
  inspect: Inspect,
  verdict: CompiledRule['verdict'] = 'redact',
  more: Partial<CompiledRule> = {},
): CompiledRule => ({ guardrail_id: 'regex_match', phase: 'output', verdict, config: {}, inspect, ...more })

const digits = rule(finding(/\d{4,20}/g, 'number'))
const mails = rule(finding(/\w+@\w+\.\w+/g, 'email'))
const shouts = rule(finding(/\b[A-Z]{3,30}\b/g, 'shout'))

/** Pieces of texts in which there is much to find. */
const piece = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.constantFrom('ada@example.com', '4111111111111111', 'SHOUT', '12345', '👩‍🚀', '@', '.'),
  fc.string({ maxLength: 12, unit: 'binary' }),
  fc.constantFrom(' ', '\n', ', ', 'ABC', '99'),
)
const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(' '))
const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 60 })

function chunked(whole: string, sizes: readonly number[]): string[] {
  const chunks: string[] = []
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = sizes[turn % sizes.length]!
    chunks.push(whole.slice(at, at + size))
    at += size
  }
  return chunks
}

describe('redaction', () => {
  test('a streamed answer reads like the whole one, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(text, cuts, async (whole, sizes) => {
        const rules = [mails, digits, shouts]
        const held = createHoldBack({ stretch: (stretch) => applyRules(rules, stretch, about), whole: null })
        let shown = ''
        for (const chunk of chunked(whole, sizes)) shown += await held.add(chunk)
        const outcome = await applyRules(rules, whole, about)
        expect(outcome.text.startsWith(shown)).toBe(true)
        shown += await held.rest(outcome.text)
        expect(shown).toBe(outcome.text)
        expect(shown).toBe(held.shown())
      }),
      { numRuns: 150 },
    )
  })

  test('when the whole answer is blocked at its end, nothing more is shown', async () => {
    const clean = async (stretch: string) => applyRules([], stretch, about)
    const held = createHoldBack({ stretch: clean, whole: clean })
    const answer = 'word '.repeat(203)
    let shown = ''
    for (const letter of answer) shown += await held.add(letter)
    expect(shown.length).toBeLessThanOrEqual(answer.length - 256)
    expect(await held.rest('This answer was withheld.', true)).toBe('')
    expect(held.shown()).toBe(shown)
  })

  test('nothing of a blocked passage is ever shown, and nothing after it', async () => {
    const stops = rule(finding(/forbidden( \w+){3}/g, 'words'), 'block')
    await fc.assert(
      fc.asyncProperty(text, text, cuts, async (before, after, sizes) => {
        const whole = `${before} forbidden one two three ${after}`
        const held = createHoldBack({ stretch: (stretch) => applyRules([stops], stretch, about), whole: null })
        let shown = ''
        for (const chunk of chunked(whole, sizes)) shown += await held.add(chunk)
        expect(whole.startsWith(shown)).toBe(true)
        expect(shown.length).toBeLessThanOrEqual(before.length + 1)
      }),
      { numRuns: 100 },
    )
  })

  test('a match inside a mark changes nothing, and one that overlaps a mark extends it', () => {
    const spans = addMatches('call 5551234 now', [], [{ start: 5, end: 12, kind: 'phone' }])
    expect(withSpans('call 5551234 now', spans)).toBe('call [REDACTED:phone] now')
    expect(addMatches('call 5551234 now', spans, [{ start: 6, end: 14, kind: 'shout' }])).toEqual(spans)
    const wider = addMatches('call 5551234 now', spans, [{ start: 0, end: 10, kind: 'order' }])
    expect(withSpans('call 5551234 now', wider)).toBe('[REDACTED:order] now')
  })

  test('spans are in order, do not overlap, and cover every match', () => {
    const match = fc.record({ start: fc.nat(60), length: fc.nat(20) })
    fc.assert(
      fc.property(fc.string({ maxLength: 60, unit: 'grapheme' }), fc.array(match), (whole, found) => {
        const matches = found
          .map(({ start, length }) => ({ start, end: Math.min(whole.length, start + length), kind: 'x' }))
          .filter(({ start, end }) => start < end)
        const spans = addMatches(whole, [], matches)
        for (const [at, span] of spans.entries()) expect(span.start).toBeGreaterThanOrEqual(spans[at - 1]?.end ?? 0)
        for (const { start, end } of matches) {
          expect(spans.some((span) => span.start <= start && span.end >= end)).toBe(true)
        }
        expect(withSpans(whole, spans).isWellFormed()).toBe(whole.isWellFormed())
      }),
    )
  })
})

describe('a rule that fails (fails closed)', () => {
  const broken: Inspect = () => {
    throw new Error('the text is secret')
  }

  test.each([
    ['block', { blocked: { guardrailId: 'regex_match', detail: 'could not be checked' } }],
    ['redact', { text: '[REDACTED:regex_match]', blocked: null }],
    ['flag', { text: 'hello', blocked: null }],
  ] as const)('%s', async (verdict, expected) => {
    const outcome = await applyRules([rule(broken, verdict)], 'hello', about)
    expect(outcome).toMatchObject(expected)
    expect(outcome.firings).toMatchObject([{ verdict, detail: 'could not be checked' }])
  })

  test('a promise that rejects is a failure, too', async () => {
    const { findings } = await applyEveryRule([rule(() => Promise.reject(new Error('late')), 'flag')], 'hello', about)
    expect(findings).toEqual([{ detail: 'could not be checked', matches: [] }])
  })

  test('a stored rule that this release cannot compile is a failure, too (K16)', async () => {
    const stored: GuardrailRule = {
      guardrail_id: 'regex_match',
      phase: 'input',
      verdict: 'block',
      config: { pattern: '(?=old)' },
    }
    const policy = await compilePolicy({ id: GuardrailPolicyId.create(), owner: OWNER, rules: [stored] })
    const outcome = await applyRules(policy.of('input').rules, 'hello', { phase: 'input', patient: true })
    expect(outcome.blocked).toMatchObject({ detail: 'could not be checked' })
  })
})

describe('values of JSON', () => {
  const call = { phase: 'tool_call' as const, tool: { name: 'send_mail' }, patient: true }

  test('are redacted in strings, numbers and member names', async () => {
    const value = { to: ['ada@example.com', 'x'], card: 4111111111111111, note: 'a "quoted" bob@example.com', ok: true }
    expect((await applyRulesToValue([mails, digits], { ...value, 'eve@example.com': null }, call)).value).toEqual({
      to: ['[REDACTED:email]', 'x'],
      card: '[REDACTED:number]',
      note: 'a "quoted" [REDACTED:email]',
      ok: true,
      '[REDACTED:email]': null,
    })
  })

  test('are untouched where nothing is found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect((await applyRulesToValue([rule(() => null)], value, call)).value).toBe(value)
      }),
    )
  })

  /** Random JSON without `@`, because a random string such as `0@0.A` is an e-mail address. */
  const withoutAddress = fc
    .json()
    .filter((text) => !text.includes('@'))
    .map((text) => JSON.parse(text) as unknown)

  test('keep everything else where something is found', async () => {
    await fc.assert(
      fc.asyncProperty(withoutAddress, async (value) => {
        const { value: left } = await applyRulesToValue([mails], { value, seen: 'ada@example.com' }, call)
        expect(left).toEqual({ value, seen: '[REDACTED:email]' })
      }),
    )
  })

  test('are also checked as one text: the name of the tool, then the JSON', async () => {
    const stops = rule(finding(/^send_mail .*"amount":\d+/g, 'order'), 'block')
    expect((await applyRulesToValue([stops], { amount: 5 }, call)).blocked).not.toBeNull()
    expect((await applyRulesToValue([{ ...stops, verdict: 'redact' }], { amount: 5 }, call)).value).toEqual({
      '[REDACTED:regex_match]': '[REDACTED:regex_match]',
    })
  })
})
