import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import type { Newcomer } from './support/people'
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

test.each([false, true])(
  'G. what the engine says it used: G8 an answer of 20,000 tokens is stopped at the budget and costs no more than the hold (stream %p)',
  async (stream) => {
    const person = await people.newcomer({ cents: HOLD_CENTS })
    expect((await ask('much [[tokens:20000]]', person, { stream })).status).toBe(200)
    expect(await balanceOf(person)).toBeGreaterThanOrEqual(0)
    expect(await at(person, 'held')).toBe(0)
    expect((await ask('more', person)).status).toBe(402)
  },
)

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
  'G3 an engine that fails with %s in mode %s costs nothing, and is never shown as the fault of the caller',
  async (fault, mode, status) => {
    const person = await people.newcomer({ cents: 10 })
    expect((await ask(`fail [[${fault}]]`, person, { mode })).status).toEqual(status)
    expect(upstream.calls.some(({ prompt }) => prompt.includes(`[[${fault}]]`))).toBe(true)
    expect(await target.moneyOf(person.email)).toEqual({ balance: 10, held: 0 })
  },
)

keepsItsPromises(target, { faults: true })
