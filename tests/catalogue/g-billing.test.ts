import { describe, expect, test } from 'bun:test'
import { LIE_NAMES } from '../support/upstream'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { grant, type Newcomer } from './support/people'
import { HOLD_CENTS, MAX_TOKENS, pricedEngines, TOKEN_CENTS } from './support/prices'

const target = await startTarget({ engine: 'builtin', env: pricedEngines })
const { send, people, upstream } = target

/** A fast, stateless request that no cache answers. */
const ask = (prompt: string, by: { key: string }, more: object = {}) =>
  send('POST', 'completions', {
    key: by.key,
    body: { prompt, mode: 'fast', conversation_id: null, ...more },
    headers: { 'cache-control': 'no-cache' },
  })
const balanceOf = async ({ email }: Newcomer) => (await target.moneyOf(email)).balance
const at = async (person: Newcomer, what: 'balance' | 'held') => (await target.moneyOf(person.email))[what]

describe('G. before work starts', () => {
  test('G1 nothing in the wallet is 402, and no engine is asked', async () => {
    const calls = upstream.calls.length
    for (const path of ['completions', 'chat/completions']) {
      const body = path === 'completions' ? { prompt: 'x' } : { messages: [{ role: 'user', content: 'x' }] }
      for (const stream of [false, true]) {
        const { status, body: answer } = await send('POST', path, { as: 'kz', body: { ...body, stream } })
        expect({ status, code: answer.error.code }).toEqual({ status: 402, code: 'insufficient_credits' })
      }
    }
    expect(upstream.calls.length).toBe(calls)
  })

  test('G2 a micro-cent less than the hold is 402, and that micro-cent more is enough', async () => {
    const poor = await people.newcomer({ cents: HOLD_CENTS - 0.000001 })
    const calls = upstream.calls.length
    const refused = await ask('edge', poor)
    expect(refused).toMatchObject({ status: 402, body: { error: { code: 'insufficient_credits' } } })
    expect(upstream.calls.length).toBe(calls)
    await grant(target, poor.email, 0.000001)
    expect((await ask('edge', poor)).status).toBe(200)
  })

  test('G4 an answer that is remembered is refused at balance 0, before the cache is looked into (contract 22.1)', async () => {
    const person = await people.newcomer({ cents: HOLD_CENTS, extra: { daily_cap_cents: 1 } })
    const body = { prompt: `remember [[tokens:${MAX_TOKENS}]]`, mode: 'fast' }
    const first = await send('POST', 'completions', { key: person.key, body })
    expect(first.body.usage.cost_cents).toBe(HOLD_CENTS)
    expect(await balanceOf(person)).toBe(0)
    const again = await send('POST', 'completions', { key: person.key, body })
    expect(again.status).toBe(402)
  })

  test('a remembered answer costs nothing and calls nobody', async () => {
    const person = await people.newcomer({ cents: 10 })
    const body = { prompt: 'remember me', mode: 'fast' }
    const first = await send('POST', 'completions', { key: person.key, body })
    const [calls, balance] = [upstream.calls.length, await balanceOf(person)]
    const again = await send('POST', 'completions', { key: person.key, body })
    expect(again.body).toMatchObject({
      _cached: true,
      content: first.body.content,
      usage: { cached: true, cost_cents: 0 },
    })
    expect(again.body.conversation_id).not.toBe(first.body.conversation_id)
    expect(upstream.calls.length).toBe(calls)
    expect(await balanceOf(person)).toBe(balance)
  })

  test("G5 another user's identical prompt is not answered from memory, nor another key's of another user", async () => {
    const body = { prompt: 'the same words', mode: 'fast' }
    await send('POST', 'completions', { body })
    const [own, foreign] = [
      await send('POST', 'completions', { as: 'k1b', body }),
      await send('POST', 'completions', { as: 'k2', body }),
    ]
    expect(own.body._cached).toBe(true)
    expect(foreign.body).not.toHaveProperty('_cached')
    expect(foreign.headers.get('x-cache')).toBe('MISS')
  })
})

describe('G. what the engine says it used', () => {
  test.each(
    LIE_NAMES.flatMap(
      (lie) =>
        [
          [lie, false],
          [lie, true],
        ] as const,
    ),
  )('G7 %s (stream %p) is charged by our own count, within the hold', async (lie, stream) => {
    const person = await people.newcomer({ cents: 10 })
    const reply = await ask(`count [[lies:${lie}]]`, person, { stream })
    expect(reply.status).toBe(200)
    const usage = stream ? JSON.parse(reply.text.match(/event: done\ndata: (.*)/)![1]!).usage : reply.body.usage
    expect(usage.completion_tokens).toBeInteger()
    expect(usage.completion_tokens).toBeWithin(1, 30)
    expect(usage.prompt_tokens).toBeWithin(0, 1_000)
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
    expect(usage.cost_cents).toBeCloseTo(usage.completion_tokens * TOKEN_CENTS, 9)
    expect(await balanceOf(person)).toBeCloseTo(10 - usage.cost_cents, 9)
  })

  test.each([false, true])(
    'G8 an answer of 20,000 tokens is stopped at the budget and costs no more than the hold (stream %p)',
    async (stream) => {
      const person = await people.newcomer({ cents: HOLD_CENTS })
      const reply = await ask('much [[tokens:20000]]', person, { stream })
      expect(reply.status).toBe(200)
      expect(await balanceOf(person)).toBeGreaterThanOrEqual(0)
      expect(await at(person, 'held')).toBe(0)
      expect((await ask('more', person)).status).toBe(402)
    },
  )
})

describe('G. many at once', () => {
  test('I7 credit for ten calls, sixty at once: ten answers, fifty refusals, nothing left and nothing owed', async () => {
    const person = await people.newcomer({ cents: 10 * HOLD_CENTS })
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) => ask(`race ${n} [[tokens:${MAX_TOKENS}]] [[delay:100]]`, person)),
    )
    const count = (status: number) => replies.filter((reply) => reply.status === status).length
    expect({ of200: count(200), of402: count(402) }).toEqual({ of200: 10, of402: 50 })
    expect(await target.moneyOf(person.email)).toEqual({ balance: 0, held: 0 })
  })

  test('G11 fifty calls at the edge of a daily cap spend no more than the cap', async () => {
    const person = await people.newcomer({ cents: 100, extra: { daily_cap_cents: 5 } })
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ask(`cap ${n} [[tokens:900]] [[delay:50]]`, person)),
    )
    const refused = replies.filter(({ status }) => status === 402)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(refused).toHaveLength(45)
    expect(refused[0]!.body.error.message).toContain('cap')
    expect(100 - (await balanceOf(person))).toBeCloseTo(5 * 900 * TOKEN_CENTS, 9)
  })

  test('G16 three hundred small charges add up to the micro-cent', async () => {
    const person = await people.newcomer({ cents: 1_000 })
    const replies = await Promise.all(
      Array.from({ length: 300 }, (_, n) => ask(`small ${n} [[tokens:${(n % 7) + 1}]]`, person)),
    )
    const micro = replies.reduce((sum, { body }) => sum + Math.round(body.usage.cost_cents * 1_000_000), 0)
    expect(Math.round((await balanceOf(person)) * 1_000_000)).toBe(1_000_000_000 - micro)
  })

  test('G17 credit granted while it is spent is neither lost nor doubled', async () => {
    const person = await people.newcomer({ cents: 10 })
    const grants = Array.from({ length: 20 }, (_, n) =>
      target.ops('POST', '/ops/v1/credits', {
        owner: person.email,
        amount_cents: 0.5,
        idempotency_key: `g17-${n % 10}`,
      }),
    )
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(`both ${n}`, person)))
    await Promise.all(grants)
    const spent = replies.reduce((sum, { body }) => sum + (body.usage?.cost_cents ?? 0), 0)
    const { balance } = await eventually(
      () => target.moneyOf(person.email),
      ({ held }) => held === 0,
    )
    expect(balance).toBeCloseTo(10 + 10 * 0.5 - spent, 9)
  })
})

describe('G. an engine that fails', () => {
  test.each([
    ['500', 'fast', 503],
    ['cut', 'think', 503],
    ['malformed', 'code', 503],
    ['empty', 'think', 503],
    ['html', 'roast', 503],
    ['drop', 'genui', 503],
    ['error-event', 'domain_analysis', 503],
    ['wrong-type', 'vision', 503],
    ['401', 'data_extraction', 503],
  ])(
    'G3 with %s in mode %s costs nothing, and is never shown as the fault of the caller',
    async (fault, mode, status) => {
      const person = await people.newcomer({ cents: 10 })
      const reply = await ask(`fail [[${fault}]]`, person, { mode })
      expect(reply.status).toEqual(status)
      expect(upstream.calls.some(({ prompt }) => prompt.includes(`[[${fault}]]`))).toBe(true)
      expect(await target.moneyOf(person.email)).toEqual({ balance: 10, held: 0 })
    },
  )
})

keepsItsPromises(target, { faults: true })
