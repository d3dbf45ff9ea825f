import { describe, expect, test } from 'bun:test'
import { type Refusal, refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ada = await world.person()
const good = { pattern: 'contract', target_mode: 'think' }
const ask = (body: object) => ada.send('POST', 'routing-preferences', { name: 'Mine', ...body })
const withRule = (rule: object) => ({ rules: [{ ...good, ...rule }] })
const example = { prompt: 'hello', expected_mode: 'fast' }

const INVALID: [what: string, preference: object, param: string][] = [
  ['a label that names a vendor', { name: 'OpenAI first' }, 'name'],
  ['a spaced one', { name: 'o p e n a i' }, 'name'],
  ['a description that does', { description: 'ask Cl4ude' }, 'description'],
  ['a description of a rule that does', withRule({ description: 'to Anthropic' }), 'rules[0].description'],
  ['51 rules', { rules: Array.from({ length: 51 }, () => good) }, 'rules'],
  ['31 examples', { examples: Array.from({ length: 31 }, () => example) }, 'examples'],
  ['an example of 1,025 characters', { examples: [{ ...example, prompt: 'x'.repeat(1_025) }] }, 'examples[0].prompt'],
  [
    'an example of an unknown mode',
    { examples: [{ ...example, expected_mode: 'dance' }] },
    'examples[0].expected_mode',
  ],
  [
    'an example of an unknown engine',
    { examples: [{ ...example, expected_engine: 'x' }] },
    'examples[0].expected_engine',
  ],
  ['an unknown mode', withRule({ target_mode: 'dance' }), 'rules[0].target_mode'],
  ['a rule to auto', withRule({ target_mode: 'auto' }), 'rules[0].target_mode'],
  ['an unknown engine', withRule({ target_engine: 'gpt-4' }), 'rules[0].target_engine'],
  ['a text mode on an engine of pictures', withRule({ target_engine: 'svc-1-create' }), 'rules[0].target_engine'],
  [
    'a picture on a text engine',
    withRule({ target_mode: 'image', target_engine: 'svc-1-flash' }),
    'rules[0].target_engine',
  ],
  ['a floor of an unknown mode', { confidence_floor_overrides: { dance: 0.7 } }, 'confidence_floor_overrides.dance'],
  ['a pattern of 513 characters', withRule({ pattern: 'x'.repeat(513) }), 'rules[0].pattern'],
  ['an empty pattern', withRule({ pattern: '' }), 'rules[0].pattern'],
  ['the second rule', { rules: [good, { ...good, pattern: '(' }] }, 'rules[1].pattern'],
]
/** Patterns that do not compile or are too large, and those that mean a vendor. */
const PATTERNS = [
  ...['(', '[', '*a', '\\', '(?<n>', 'a{2,1}', '(?i)x', '(a{1,100}){1,100}', '\\p{L}'.repeat(100)],
  ...['openai', 'op[e]nai', '(open)(ai)', '\\x6fpenai', 'o\u200bpenai', 'o.?p.?e.?n.?a.?i', 'OPENAI', '[o0]penai'],
]
const posting = { world, as: ada, request: 'POST routing-preferences', body: { name: 'Mine' } }
refusals('routing_preference_invalid', { ...posting, code: 'routing_preference_invalid' }, [
  ...INVALID.map(([what, preference, param]): Refusal => [what, preference, '', { param }]),
  ...PATTERNS.map((pattern): Refusal => [`the pattern ${pattern}`, withRule({ pattern }), '"rules[0].pattern" ']),
])

refusals('what is no shape of a preference', posting, [
  ['no name', { name: undefined }, '"name" is missing'],
  ['an empty name', { name: '' }, '"name" '],
  ...['  ', '\u200b\u2060'].map(
    (name): Refusal => [`the name ${JSON.stringify(name)}, which shows nothing`, { name }, '"name" '],
  ),
  ['a name of 129 characters', { name: 'x'.repeat(129) }, '"name" '],
  ['a description of 513 characters', { description: 'x'.repeat(513) }, '"description" '],
  ['rules that are no list', { rules: {} }, '"rules" is {}'],
  ['a rule without a pattern', { rules: [{ target_mode: 'code' }] }, '"rules[0].pattern" is missing'],
  ['a confidence in words (K8)', withRule({ confidence: '0.9' }), '"rules[0].confidence" is "0.9"'],
  ['an unknown scope', { scope: 'world' }, '"scope" is "world"'],
  ['a team where there is none', { scope: 'team' }, '', { code: 'org_required' }],
])

test('a pattern that backtracks without end is refused with a text that shows it (docs/design.md 1.9)', async () => {
  for (const pattern of ['(?=(a+)+b)', '^(?!(x+x+)+y)z']) {
    const { status, body } = await ask(withRule({ pattern }))
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'routing_preference_invalid' })
    expect(body.error.message).toMatch(/more than 50 ms on \d+ characters such as "(a|x)+/)
  }
})

test('one that looks around and ends is taken', async () => {
  expect((await ask(withRule({ pattern: '^(?!.*\\btest\\b).*\\bcode\\b' }))).status).toBe(201)
})

describe('what may look like something refused and is not', () => {
  test.each([
    'open air',
    'lama',
    '\\b(open|ai)\\b',
    '.*',
    '\\w+',
    '^open',
    'pineapple',
    '(a+)+$',
    '\\d{4}-\\d{2}',
    '[[:a]',
    '\\Astro',
  ])('the pattern %s', async (pattern) => {
    expect((await ask(withRule({ pattern }))).status).toBe(201)
  })

  test.each([
    [5, 0.99],
    [-1, 0.5],
    [1e308, 0.99],
    [0.7, 0.7],
  ])('a confidence of %d is stored as %d (K8)', async (confidence, stored) => {
    expect((await ask(withRule({ confidence }))).body.rules[0].confidence).toBe(stored)
  })
})

describe('scope team', () => {
  test("is what an organization's key makes, and nothing else", async () => {
    const org = await world.person({ ofOrg: true })
    const made = await org.send('POST', 'routing-preferences', { name: 'Ours' })
    expect(made.body).toMatchObject({ scope: 'team', org_id: org.orgId })
    const personal = await org.send('POST', 'routing-preferences', { name: 'Mine', scope: 'personal' })
    expect({ status: personal.status, code: personal.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
  })

  test('goes on no personal key', async () => {
    const org = await world.person({ ofOrg: true })
    const own = (await org.send('POST', 'routing-preferences', { name: 'Ours' })).body.id
    const bound = await org.send('PUT', `keys/${org.keyId}/routing-preference`, { routing_preference_id: own })
    expect(bound.status).toBe(200)
    expect(bound.body.routing_preference_id).toEqual(own)
  })
})
