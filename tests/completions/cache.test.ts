import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const clock = fakeClock()
const { world, upstream } = await createUpstreamWorld({ clock, isAlone: true })
const [ada, bob] = [await world.person(), await world.person()]

const ask = async (person: Person, input: object, headers: Record<string, string> = {}) => {
  const before = upstream.calls.length
  return { ...(await person.send('POST', 'completions', input, headers)), hit: upstream.calls.length === before }
}

describe('an identical request (docs/api.md 22.1)', () => {
  test('is served again at no cost, as what it was, in a conversation of its own', async () => {
    const input = { prompt: freshPrompt(), metadata: { round: 1 } }
    const first = await ask(ada, input)
    clock.advance(1_000)
    const second = await ask(ada, { ...input, metadata: { round: 2 } })
    expect({ first: first.hit, second: second.hit }).toEqual({ first: false, second: true })
    expect([first, second].map(({ headers }) => headers.get('x-cache'))).toEqual(['MISS', 'HIT'])
    expect(second.body).toEqual({
      ...first.body,
      metadata: { round: 2 },
      request_id: second.headers.get('x-request-id'),
      conversation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      usage: { ...first.body.usage, cost_cents: 0, cached: true },
      _cached: true,
    })
    expect(second.body.conversation_id).not.toBe(first.body.conversation_id)
    const stored = (await ada.send('GET', `conversations/${second.body.conversation_id}`)).body.conversation
    expect(stored.messages).toMatchObject([
      { content: input.prompt },
      { content: first.body.content, costCents: 0, status: 'complete' },
    ])
    expect(first.body.usage.cost_cents).toBeGreaterThan(0)
  })

  test('is found whatever its format and whether it streams', async () => {
    const input = { prompt: freshPrompt() }
    await ask(ada, input)
    const compat = await ask(ada, { ...input, format: 'compat' })
    expect(compat.hit).toBe(true)
    expect(compat.body).toMatchObject({ object: 'chat.completion', svc_metadata: { cost_cents: 0 } })
    expect((await ask(ada, { ...input, stream: true })).hit).toBe(true)
  })

  test('of someone else is not', async () => {
    const input = { prompt: freshPrompt() }
    await ask(ada, input)
    expect((await ask(bob, input)).hit).toBe(false)
  })

  test("is shared by one user's keys, and never by two keys of an org", async () => {
    const input = { prompt: freshPrompt() }
    const { body: second } = await ada.send('POST', 'keys', { name: 'second' })
    await ask(ada, input)
    expect((await ask(ada, input, { authorization: `Bearer ${second.key}` })).hit).toBe(true)

    const carol = await world.person({ ofOrg: true })
    const { body: colleague } = await carol.send('POST', 'keys', { name: 'colleague', scope: 'org' })
    await ask(carol, input)
    expect((await ask(carol, input)).hit).toBe(true)
    expect((await ask(carol, input, { authorization: `Bearer ${colleague.key}` })).hit).toBe(false)
  })

  test.each([
    ['tools', { tools: [{ name: 'a', description: 'b' }] }],
    ['image model', { image_model: 'svc-1-photo' }],
  ])('with another %s is another request', async (_, change) => {
    const prompt = freshPrompt()
    await ask(ada, { prompt })
    expect((await ask(ada, { prompt, ...change })).hit).toBe(false)
    expect((await ask(ada, { prompt, ...change })).hit).toBe(true)
  })

  test.each([
    ['in stealth', '', { mode: 'stealth_text' }],
    ['cut at the output limit', '[[finish:length]]', {}],
  ])('%s is never remembered', async (_, words, members) => {
    const input = { prompt: freshPrompt(words), ...members }
    await ask(ada, input)
    expect((await ask(ada, input)).hit).toBe(false)
  })

  test('in a conversation is never remembered', async () => {
    const { conversation_id } = (await ask(ada, { prompt: freshPrompt() })).body
    const input = { prompt: freshPrompt(), conversation_id }
    await ask(ada, input)
    expect((await ask(ada, input)).hit).toBe(false)
  })

  test('with Cache-Control: no-cache is asked anew and renews what is remembered', async () => {
    const input = { prompt: freshPrompt() }
    const first = await ask(ada, input)
    const fresh = await ask(ada, input, { 'cache-control': 'no-cache' })
    expect(fresh.hit).toBe(false)
    expect(fresh.body._cached).toBeUndefined()
    const third = await ask(ada, input)
    expect(third.hit).toBe(true)
    expect(first.body.id === fresh.body.id).toBe(false)
    expect(third.body.id === fresh.body.id).toBe(true)
  })

  test.each([
    ['fast', 300],
    ['auto', 300],
    ['roast', 300],
    ['research', 300],
    ['think', 3600],
    ['code', 3600],
    ['genui', 3600],
    ['data_extraction', 3600],
    ['domain_analysis', 3600],
  ])('of mode %s is remembered for %i seconds', async (mode, seconds) => {
    const input = { prompt: freshPrompt('hello'), mode }
    await ask(ada, input)
    clock.advance(seconds * 1000 - 1)
    expect((await ask(ada, input)).hit).toBe(true)
    clock.advance(1)
    expect((await ask(ada, input)).hit).toBe(false)
  })

  test('is remembered for as long as the setting of its mode says', async () => {
    const { world: other } = await createUpstreamWorld({
      clock,
      isAlone: true,
      config: { cacheTtl_roast: 20 } as object,
    })
    const [eve, input] = [await other.person(), { prompt: freshPrompt(), mode: 'roast' }]
    const isServed = async () => (await eve.send('POST', 'completions', input)).body._cached === true
    expect(await isServed()).toBe(false)
    clock.advance(19_999)
    expect(await isServed()).toBe(true)
    clock.advance(1)
    expect(await isServed()).toBe(false)
  })

  test('is not remembered for longer because it is asked again', async () => {
    const input = { prompt: freshPrompt(), mode: 'fast' }
    await ask(ada, input)
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(99_999)
      expect((await ask(ada, input)).hit).toBe(true)
    }
    clock.advance(3)
    expect((await ask(ada, input)).hit).toBe(false)
  })

  test('that failed is asked again', async () => {
    const input = { prompt: freshPrompt('[[401]]') }
    expect((await ask(ada, input)).status).toBe(503)
    expect((await ask(ada, input)).hit).toBe(false)
  })

  test('is refused when nothing is left to spend (G4)', async () => {
    const eve = await world.person({ cents: 1 })
    const input = { prompt: freshPrompt() }
    await ask(eve, input)
    const { billing, store } = world.app.container
    const owner = `user:${eve.userId}` as const
    const { available } = await billing.balance(store.read, owner)
    await store.write((tx) => billing.adjust(tx, { owner, amount: -available, ref: 'drain', note: null }))
    expect((await ask(eve, input)).status).toBe(402)
  })
})
