import { describe, expect, test } from 'bun:test'
import { MICRO_PER_CENT } from '../../src/kernel/money'
import { readFrames } from '../support/frames'
import { LIE_NAMES } from '../support/upstream'
import { createWorld, type Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

/** A price of each token that shows in a sum: 1 micro-cent a prompt token, 1,000 a completion token. */
const PRICES = { 'svc-1-flash': { promptPer1k: 1_000, completionPer1k: 1_000_000 } }

const { world, upstream } = await createUpstreamWorld({ config: { prices: PRICES } })
/** The built-in engine, and no cache. */
const free = await createWorld({ config: { cacheEnabled: false } })
const { billing, store } = world.app.container
const walletOf = (person: Person) =>
  billing.balance(store.read, person.orgId ? `org:${person.orgId}` : `user:${person.userId}`)
const ask = (person: Person, input: object = {}) =>
  person.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast', ...input })

async function spentBy(person: Person, work: () => Promise<unknown>): Promise<number> {
  const before = await walletOf(person)
  await work()
  const after = await walletOf(person)
  expect(after.held).toBe(0)
  return before.balance - after.balance
}

const ada = await world.person()

describe('the price', () => {
  test.each([1, 3, 17])(
    'of %i tokens is exactly what the table says, on the wire and in the ledger',
    async (tokens) => {
      let usage = { cost_cents: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
      const spent = await spentBy(ada, async () => {
        usage = (await ask(ada, { prompt: freshPrompt(`[[tokens:${tokens}]]`) })).body.usage
      })
      expect(usage).toEqual({
        prompt_tokens: 11,
        completion_tokens: tokens,
        total_tokens: 11 + tokens,
        cost_cents: spent / MICRO_PER_CENT,
      })
      expect(spent).toBe(11 + tokens * 1_000)
    },
  )

  test('of a stream is the same', async () => {
    expect(await spentBy(ada, () => ask(ada, { prompt: freshPrompt('[[tokens:5]]'), stream: true }))).toBe(11 + 5_000)
  })

  test('of chat is the same', async () => {
    const messages = [{ role: 'user', content: freshPrompt('[[tokens:5]]') }]
    const spent = await spentBy(ada, () => ada.send('POST', 'chat/completions', { messages, model: 'svc-1-flash' }))
    expect(spent).toBe(11 + 5_000)
  })

  test.each(LIE_NAMES.flatMap((lie) => [false, true].map((stream) => [lie, stream] as const)))(
    'is our own count where the engine says nonsense: %s, stream %p (G7)',
    async (lie, stream) => {
      const prompt = freshPrompt(`[[lies:${lie}]]`)
      let usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
      const spent = await spentBy(ada, async () => {
        const { text, body } = await ask(ada, { prompt, stream })
        usage = stream ? readFrames(text).at(-1)!.data.usage : body.usage
      })
      expect(usage.prompt_tokens).toBeGreaterThan(0)
      expect(usage.completion_tokens).toBeWithin(4, 20)
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
      expect(spent).toBe(usage.prompt_tokens + usage.completion_tokens * 1_000)
    },
  )

  test('of a failure is nothing', async () => {
    expect(await spentBy(ada, () => ask(ada, { prompt: freshPrompt('[[401]]') }))).toBe(0)
    expect(await spentBy(ada, () => ask(ada, { prompt: freshPrompt('[[401]]'), stream: true }))).toBe(0)
  })

  test('of a remembered answer is nothing', async () => {
    const input = { prompt: freshPrompt() }
    await ask(ada, input)
    expect(await spentBy(ada, () => ask(ada, input))).toBe(0)
  })

  test('is paid by the org of an org key', async () => {
    const carol = await world.person({ ofOrg: true })
    expect(await spentBy(carol, () => ask(carol, { prompt: freshPrompt('[[tokens:2]]') }))).toBe(2_011)
  })
})

describe('without money', () => {
  test.each([{}, { stream: true }])(
    'a free engine is 402 too, where nothing else asks: without a cache (%j)',
    async (members) => {
      const { status, body } = await (await free.person({ cents: 0 })).send('POST', 'completions', {
        prompt: 'What is 2+2?',
        mode: 'fast',
        ...members,
      })
      expect({ status, code: body.error?.code }).toEqual({ status: 402, code: 'insufficient_credits' })
      const ada = await free.person({ cents: 1 })
      expect((await ada.send('POST', 'completions', { prompt: 'What is 2+2?', mode: 'fast', ...members })).status).toBe(
        200,
      )
    },
  )

  test.each([
    ['completions', {}],
    ['completions', { stream: true }],
    ['completions', { mode: 'stealth_text' }],
    ['chat/completions', {}],
    ['chat/completions', { stream: true }],
  ])('%s %j is 402 before any work (G1)', async (path, members) => {
    const kim = await world.person({ cents: 0 })
    upstream.reset()
    const prompt = freshPrompt()
    const input = path === 'completions' ? { prompt } : { messages: [{ role: 'user', content: prompt }] }
    const { status, body } = await kim.send('POST', path, { ...input, ...members })
    const error = { code: 'insufficient_credits', type: 'billing_error' }
    expect({ status, ...body.error }).toMatchObject({ status: 402, ...error })
    expect(upstream.calls).toHaveLength(0)
  })

  test('enough for the whole answer, one micro-cent less is 402 (G2)', async () => {
    const { status, body } = await ask(await world.person({ cents: 4 }))
    expect({ status, code: body.error.code }).toEqual({ status: 402, code: 'insufficient_credits' })
    expect((await ask(await world.person({ cents: 5 }))).status).toBe(200)
  })

  test('fifty at once never take more than there is', async () => {
    const kim = await world.person({ cents: 20 })
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => ask(kim, { prompt: freshPrompt('[[tokens:1000]]') })),
    )
    const paid = replies.filter(({ status }) => status === 200)
    expect(paid.length).toBeGreaterThan(0)
    expect(paid.length).toBeLessThan(50)
    const { balance, held } = await walletOf(kim)
    expect(held).toBe(0)
    expect(balance).toBeGreaterThanOrEqual(0)
    expect(20 * MICRO_PER_CENT - balance).toBe(paid.length * (11 + 1_000_000))
  })

  test('the ledger is correct afterwards', async () => {
    expect(await billing.verify(store.read)).toEqual([])
  })
})
