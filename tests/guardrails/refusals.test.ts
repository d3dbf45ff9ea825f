import { describe, expect, test } from 'bun:test'
import { at, type Refusal, refusals } from '../support/refusals'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const fine = { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 10 } }
const terms = (config: object) => ({ guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config })

const refused = async (input: object) => (await ada.send('POST', 'guardrail-policies', input)).body.error

describe('a policy that is refused (docs/api.md 12, K17)', () => {
  test.each<[object, string]>([
    [pattern('a(b'), '"rules[0].config.pattern" is "a(b" and does not compile: the "(" at position 2 is not closed.'],
    [pattern('[\\]'), '"rules[0].config.pattern" is "[\\]" and does not compile: the "[" at position 1 is not closed.'],
    [pattern('\\p{L}'.repeat(60)), 'has more classes such as \\p{L} than this server runs.'],
    [
      pattern('(a{1,100}){1,100}'),
      'with what repeats written out it comes to 10100 characters and classes, and at most',
    ],
    [flagged('gg'), '"rules[0].config.flags" is "gg"; each letter may occur only once.'],
    [flagged('uv'), '"rules[0].config.flags" is "uv"; u and v cannot be combined, leave one of them out.'],
    [flagged('y'), '"rules[0].config.flags" is "y"; the allowed flags are g, i, m, s, u and v.'],
    [terms({ terms: ['\u200b'] }), '"rules[0].config.terms[0]" has no visible letter, digit or sign to match'],
    [language(['en', 'xx']), '"rules[0].config.allowed[1]" is "xx", which is not an ISO 639-1 code such as "en".'],
  ])('the message names the member: %j', async (rule, sentence) => {
    const error = await refused({ name: 'Refused', rules: [rule] })
    expect(error.message).toContain(sentence)
    expect(error.message.slice(1)).toStartWith(error.param)
  })

  test('the index of a wrong rule is named, and more than 32 are refused', async () => {
    expect((await refused({ name: 'Third', rules: [fine, fine, { ...fine, phase: 'x' }] })).param).toBe(
      'rules[2].phase',
    )
    expect(await refused({ name: 'Many', rules: Array(33).fill(fine) })).toMatchObject({
      code: 'guardrail_policy_invalid',
      param: 'rules',
      message: expect.stringContaining('33'),
    })
    expect((await ada.send('POST', 'guardrail-policies', { name: 'Most', rules: Array(32).fill(fine) })).status).toBe(
      201,
    )
  })

  test.each(['OpenAI only', 'o p e n a i', 'сlaudе rules', 'gpt-4 guard', '\u041epenAI', 'CIaude', '🇨🇱🇦🇺🇩🇪'])(
    'a name or description with a vendor, which the message does not repeat: %s',
    async (label) => {
      const { body } = await ada.send('POST', 'guardrail-policies', { name: 'Fine' })
      for (const member of ['name', 'description']) {
        const wanted = { code: 'guardrail_policy_invalid', param: member }
        const message = `"${member}" names an upstream vendor, which is not allowed. Describe its purpose instead.`
        expect(await refused({ name: 'Fine', [member]: label })).toMatchObject({ ...wanted, message })
        const changed = await ada.send('PATCH', `guardrail-policies/${body.id}`, { [member]: label })
        expect(changed.body.error).toMatchObject({ ...wanted, message })
      }
    },
  )

  test('a patch is checked as strictly', async () => {
    const { body } = await ada.send('POST', 'guardrail-policies', { name: 'Fine', rules: [fine] })
    const patched = await ada.send('PATCH', `guardrail-policies/${body.id}`, { rules: [{ ...fine, verdict: 'x' }] })
    expect(patched.body.error).toMatchObject({ code: 'guardrail_policy_invalid', param: 'rules[0].verdict' })
    expect((await ada.send('GET', `guardrail-policies/${body.id}`)).body.rules).toEqual([fine])
  })
})

const ruled = (what: string, rule: object, member: string): Refusal => {
  const param = `rules[0].${member}`
  return [what, { name: 'Refused', rules: [rule] }, param, { param }]
}
const LONG = 'x'.repeat(500)
refusals(
  'POST /guardrail-policies refuses a rule (docs/api.md 12, K17)',
  {
    ...{ world, as: ada, request: 'POST guardrail-policies', code: 'guardrail_policy_invalid' },
    also: ({ body: { error } }) =>
      expect(error.details).toEqual([{ path: error.param, message: expect.stringContaining(error.param) }]),
  },
  [
    ruled('an unknown guardrail', { ...fine, guardrail_id: 'mind_reading' }, 'guardrail_id'),
    ruled('a name of the object prototype', { ...fine, guardrail_id: '__proto__' }, 'guardrail_id'),
    ruled('a very long guardrail', { ...fine, guardrail_id: LONG }, 'guardrail_id'),
    ruled('an unknown phase', { ...fine, phase: 'sleep' }, 'phase'),
    ruled('a very long phase', { ...fine, phase: LONG }, 'phase'),
    ruled('a phase the guardrail does not have', { ...fine, phase: 'tool_call' }, 'phase'),
    ruled('an unknown verdict', { ...fine, verdict: 'forgive' }, 'verdict'),
    ruled('a very long verdict', { ...fine, verdict: LONG }, 'verdict'),
    ruled('a verdict the guardrail does not have', { ...fine, verdict: 'redact' }, 'verdict'),
    ruled('an unknown member', { ...fine, config: { max_chars: 1, colour: 'red' } }, 'config.colour'),
    ruled('a member of another guardrail', { ...fine, config: { max_chars: 1, terms: ['a'] } }, 'config.terms'),
    ruled('a member that is missing', { ...fine, config: {} }, 'config.max_chars'),
    ruled('no config where one is needed', { ...fine, config: undefined }, 'config.max_chars'),
    ruled('a number that is a string', { ...fine, config: { max_chars: 'ten' } }, 'config.max_chars'),
    ruled('a number out of range', { ...fine, config: { max_chars: 0 } }, 'config.max_chars'),
    ruled('a message too long', { ...fine, config: { max_chars: 1, message: 'x'.repeat(513) } }, 'config.message'),
    ruled('a threshold above one', { ...fine, config: { max_chars: 1, threshold: 2 } }, 'config.threshold'),
    ruled('no terms', terms({ terms: [] }), 'config.terms'),
    ruled('two hundred and one terms', terms({ terms: Array(201).fill('a') }), 'config.terms'),
    ruled('a blank term', terms({ terms: ['fine', ' '] }), 'config.terms[1]'),
    ruled('an invalid pattern', pattern('('), 'config.pattern'),
    ruled('look-ahead', pattern('(?=a)'), 'config.pattern'),
    ruled('a back-reference', pattern('(a)\\1'), 'config.pattern'),
    ruled('a pattern too long', pattern('a'.repeat(513)), 'config.pattern'),
    ruled('a pattern that repeats too much', pattern('(a{1,100}){1,100}'), 'config.pattern'),
  ],
)

refusals('POST /guardrail-policies refuses a wrong body', { world, as: ada, request: 'POST guardrail-policies' }, [
  ['no name', {}, '"name" '],
  ['an empty name', { name: '' }, '"name" '],
  ['blanks', { name: '   ' }, '"name" '],
  ['invisible letters', { name: '\u200b\u2060' }, '"name" '],
  ['129 characters', { name: 'x'.repeat(129) }, '"name" '],
  ['a long description', { name: 'a', description: 'x'.repeat(513) }, '"description" '],
  ['rules that are an object', { name: 'a', rules: {} }, '"rules" '],
  ['a rule that is a string', { name: 'a', rules: ['x'] }, '"rules[0]" '],
  ['an unknown scope', { name: 'a', scope: 'world' }, '"scope" '],
  ['a default that is a string', { name: 'a', is_default: 'yes' }, '"is_default" '],
])

test('GET /guardrails: every guardrail has phases, verdicts and a config schema with the common members', async () => {
  const { body } = await ada.send('GET', 'guardrails')
  expect(body.guardrails.length).toBeGreaterThan(4)
  for (const { guardrail_id, description, phases, verdicts, config_schema } of body.guardrails) {
    expect({
      guardrailId: guardrail_id,
      description: description.length > 10,
      phases: phases.length > 0,
      verdicts: verdicts.length > 0,
    }).toEqual({ guardrailId: guardrail_id, description: true, phases: true, verdicts: true })
    expect(config_schema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(config_schema.properties)).toContain('message')
    expect(Object.keys(config_schema.properties)).toContain('threshold')
  }
})

test('GET /guardrails says which guardrails do not check system messages', async () => {
  const { body } = await ada.send('GET', 'guardrails')
  const notice = body.guardrails.filter(({ description }: { description: string }) =>
    /system messages/.test(description),
  )
  expect(notice.map(({ guardrail_id }: { guardrail_id: string }) => guardrail_id).sort()).toEqual([
    'jailbreak',
    'language',
    'max_length',
    'prompt_injection',
    'topic_restriction',
  ])
})

describe('POST /guardrail-policies/{id}/evaluate', () => {
  test('answers the result of every rule of the phase, and what is left of the text', async () => {
    const rules = [
      { ...terms({ terms: ['kraken'] }), verdict: 'redact' },
      terms({ terms: ['kraken', 'whale'] }),
      { ...terms({ terms: ['ship'] }), verdict: 'flag' },
      { ...fine, phase: 'output' },
    ]
    const { body } = await ada.send('POST', 'guardrail-policies', { name: 'Tried', rules })
    const before = (await ada.send('GET', 'audit')).body.length
    const tried = await ada.send('POST', `guardrail-policies/${body.id}/evaluate`, {
      text: 'A kraken and a whale',
      phase: 'input',
    })
    expect(tried.body).toMatchObject({
      results: [
        { guardrail_id: 'blocked_terms', verdict: 'redact', triggered: true, detail: expect.any(String) },
        { guardrail_id: 'blocked_terms', verdict: 'block', triggered: true, detail: expect.any(String) },
        { guardrail_id: 'blocked_terms', verdict: 'flag', triggered: false, detail: null },
      ],
      text: 'A [REDACTED:blocked_term] and a whale',
    })
    expect((await ada.send('GET', 'audit')).body).toHaveLength(before)
  })

  test('/preview does the same for rules that no policy has', async () => {
    const input = { text: 'A kraken and a whale', phase: 'input' }
    const rules = [{ ...terms({ terms: ['kraken'] }), verdict: 'redact' }]
    const { body } = await ada.send('POST', 'guardrail-policies', { name: 'Tried', rules })
    const stored = await ada.send('POST', `guardrail-policies/${body.id}/evaluate`, input)
    const { results, text } = stored.body
    expect((await ada.send('POST', 'guardrail-policies/preview', { ...input, rules })).body).toMatchObject({
      ...{ results, text },
    })
    const { error } = (await ada.send('POST', 'guardrail-policies/preview', input)).body
    expect(error).toMatchObject({ code: 'validation_error', param: 'rules' })
    const unknown = [{ ...rules[0], guardrail_id: 'astrology' }]
    expect((await ada.send('POST', 'guardrail-policies/preview', { ...input, rules: unknown })).status).toBe(400)
  })

  test('checks a long text, too', async () => {
    const { body } = await ada.send('POST', 'guardrail-policies', {
      name: 'Long',
      rules: [terms({ terms: ['kraken'] })],
    })
    const text = `${'word '.repeat(40_000)}kraken`
    const tried = await ada.send('POST', `guardrail-policies/${body.id}/evaluate`, { text, phase: 'input' })
    expect(tried.body.results).toMatchObject([{ triggered: true }])
  })
})

const tried = (await ada.send('POST', 'guardrail-policies', { name: 'Tried' })).body.id
refusals('evaluating refuses', { world, as: ada, request: `POST guardrail-policies/${tried}/evaluate` }, [
  ...at('phase', { text: 'a' }, { text: 'a', phase: 'sleep' }),
  ...at('text', { phase: 'input' }),
])

function pattern(source: string) {
  return { guardrail_id: 'regex_match', phase: 'input', verdict: 'block', config: { pattern: source } }
}

function flagged(flags: string) {
  return { ...pattern('a'), config: { pattern: 'a', flags } }
}

function language(allowed: string[]) {
  return { guardrail_id: 'language', phase: 'input', verdict: 'block', config: { allowed } }
}
