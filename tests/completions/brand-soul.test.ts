import { describe, expect, test } from 'bun:test'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt, systemOf } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()

const SOUL = {
  persona: 'You are Marlow, the night clerk of Harbour Hotel.',
  tone: 'dry and\n\nbrief',
  knowledge: ['Breakfast is served from 7 to 10.', 'The pool is closed in winter.'],
  constraints: ['Never promise a refund.'],
}
const PARTS = ['Tone: dry and brief', '- Breakfast is served', '- The pool is closed', '- Never promise a refund.']

/** A person whose key has this soul from its birth on. */
async function withSoul(brand_soul: object | null = SOUL): Promise<Person> {
  const owner = await world.person()
  const made = (await owner.send('POST', 'keys', { brand_soul })).body
  const authorization = `Bearer ${made.key}`
  const send: Person['send'] = (method, path, body, headers = {}) =>
    world.send(method, path, body, { authorization, ...headers })
  return { ...owner, key: made.key, keyId: made.id, send }
}

async function notify(person: Person, input: object = {}) {
  const { status, body } = await person.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast', ...input })
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return systemOf(upstream.calls.at(-1)!.body)
}

describe('the brand soul of a key', () => {
  test('speaks in every answer: persona, tone, knowledge and limits, in that order', async () => {
    const system = (await notify(await withSoul()))!
    const places = [SOUL.persona, ...PARTS].map((part) => system.indexOf(part))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(system).not.toContain('You are Svc')
  })

  test('speaks in chat completions and in streams too', async () => {
    const ada = await withSoul()
    const messages = [{ role: 'user', content: freshPrompt() }]
    await ada.send('POST', 'chat/completions', { messages })
    expect(systemOf(upstream.calls.at(-1)!.body)).toContain('Marlow')
    await ada.send('POST', 'chat/completions', { messages, stream: true })
    expect(systemOf(upstream.calls.at(-1)!.body)).toContain('Marlow')
    await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast', stream: true })
    expect(systemOf(upstream.calls.at(-1)!.body)).toContain('Marlow')
  })

  test('leaves a persona of the call in its place, and keeps its knowledge and limits', async () => {
    const system = (await notify(await withSoul(), { persona: { system_prompt: 'You are a pirate.' } }))!
    expect(system).toStartWith('You are a pirate.')
    expect(system).not.toContain('Marlow')
    for (const part of PARTS) expect(system).toContain(part)
    expect(await notify(await withSoul(), { persona: 'none' })).toContain('Never promise a refund.')
  })

  test.each([
    ['turned off for a call', SOUL, { brand_soul: false }],
    ['turned off on the key', { ...SOUL, enabled: false }, {}],
    ['that was never given', null, {}],
  ])('is silent when %s', async (_why, soul, input) => {
    const system = await notify(await withSoul(soul), input)
    expect(system).toStartWith('You are Svc')
    for (const part of PARTS) expect(system).not.toContain(part)
  })

  test('is the one of this moment: set, changed and removed between two calls', async () => {
    const ada = await withSoul(null)
    const put = (brand_soul: object | null) => ada.send('PUT', `keys/${ada.keyId}`, { brand_soul })
    await put({ persona: 'You are Ada.' })
    expect(await notify(ada)).toContain('You are Ada.')
    await put({ persona: 'You are Bob.' })
    expect(await notify(ada)).toContain('You are Bob.')
    await put(null)
    expect(await notify(ada)).toStartWith('You are Svc')
  })

  test('is part of what a remembered answer is remembered by', async () => {
    const ada = await withSoul()
    const ask = async (input: object = {}) =>
      (await ada.send('POST', 'completions', { prompt: 'When is breakfast?', mode: 'fast', ...input })).body._cached ??
      false
    expect(await ask()).toBe(false)
    expect(await ask()).toBe(true)
    expect(await ask({ brand_soul: false })).toBe(false)
    await ada.send('PUT', `keys/${ada.keyId}`, { brand_soul: { ...SOUL, tone: 'warm' } })
    expect(await ask()).toBe(false)
  })

  test('of a person is not that of their other keys', async () => {
    const authorization = `Bearer ${(await (await withSoul()).send('POST', 'keys', {})).body.key}`
    await world.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast' }, { authorization })
    expect(systemOf(upstream.calls.at(-1)!.body)).toStartWith('You are Svc')
  })
})

test.each([
  ['50 facts', { knowledge: Array.from({ length: 50 }, (_, at) => `Room ${at} has a bath.`) }],
  ['a persona of 4,000 characters', { persona: 'x'.repeat(4_000) }],
  ['40,000 characters in all', { knowledge: Array(10).fill('x'.repeat(4_000)) }],
])('a brand soul of %s is told to the engine whole', async (_what, brand_soul) => {
  const ada = await world.person()
  expect((await ada.send('PUT', `keys/${ada.keyId}`, { brand_soul: { enabled: true, ...brand_soul } })).status).toBe(
    200,
  )
  const system = (await notify(ada))!
  for (const part of Object.values(brand_soul).flat()) expect(system).toContain(part)
})

test.each([
  ['is a word', 'friendly'],
  ['has a persona of 4,001 characters', { persona: 'x'.repeat(4_001) }],
  ['has a tone that is a list', { tone: ['dry'] }],
  ['has 51 facts', { knowledge: Array(51).fill('x') }],
  ['has a fact that is none', { knowledge: [5] }],
  ['is switched on by a word', { enabled: 'yes' }],
  ['has more than 40,000 characters in all', { knowledge: Array(11).fill('x'.repeat(4_000)) }],
])(
  'a brand soul that cannot be: because it %s is 400 at birth and later, and changes nothing',
  async (_why, brand_soul) => {
    const ada = await world.person()
    for (const [method, path] of [
      ['POST', 'keys'],
      ['PUT', `keys/${ada.keyId}`],
    ] as const) {
      const { status, body } = await ada.send(method, path, { brand_soul })
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    }
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body.brand_soul).toBeNull()
  },
)
