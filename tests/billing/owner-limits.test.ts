// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'
import { ownerOf } from './payment-world'
import { outcomes } from './world'

const clock = fakeClock('2026-03-10T12:00:00.000Z')
const world = await createWorld({ clock })
const { billing } = world.app.container
const { store } = world.app
const CENT = 1_000_000
const NO_CAPS = { daily: null, monthly: null }
let refs = 0

const reserve = (person: Person, cents: number) =>
  store.write((tx) =>
    billing.reserve(tx, {
      owner: ownerOf(person),
      keyId: null,
      caps: NO_CAPS,
      ref: `r-${++refs}`,
      amount: cents * CENT,
    }),
  )
const settle = (hold: Awaited<ReturnType<typeof reserve>>, cents: number) =>
  store.write((tx) => billing.settleApart(tx, hold!, cents * CENT))
const spend = async (person: Person, cents: number) => settle(await reserve(person, cents), cents)
const set = (person: Person, body: object) => person.send('PATCH', 'billing/limits', body)

const low: object[] = []
for (const { container } of world.nodes)
  container.events.afterCommit('*', ({ type, data }) => {
    if (type === 'credits.low') low.push(data)
  })

describe('caps of an owner', () => {
  test('are never those of another whom the body names', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const before = (await ada.send('GET', 'billing/limits')).body
    const body = { daily_cap_cents: 7, owner: ownerOf(ada), top_up_enabled: true }
    expect((await set(eve, body)).body).toMatchObject({ daily_cap_cents: 7, auto_top_up: { enabled: false } })
    expect((await ada.send('GET', 'billing/limits')).body).toEqual({ ...before, request_id: expect.any(String) })
  })

  test('refuse what would pass them until 00:00 UTC, and until they are raised', async () => {
    const ada = await world.person()
    await set(ada, { daily_cap_cents: 10, monthly_cap_cents: 25 })
    await spend(ada, 9)
    await expect(reserve(ada, 2)).rejects.toMatchObject({
      kind: 'unpaid',
      code: 'insufficient_credits',
      message: expect.stringContaining('The daily cap of this account is 10.00 cents, 9.00 of it is spent or reserved'),
    })
    clock.advance(12 * 3_600_000)
    await spend(ada, 10)
    clock.advance(24 * 3_600_000)
    await expect(reserve(ada, 7)).rejects.toThrow('monthly cap')
    await set(ada, { monthly_cap_cents: 26 })
    await spend(ada, 7)
    await expect(reserve(ada, 1)).rejects.toThrow('26.00 of it is spent')
    await set(ada, { monthly_cap_cents: null, daily_cap_cents: null })
    await spend(ada, 100)
  })

  test('count every key of the owner together, and an org by itself', async () => {
    const [ada, team] = [await world.person(), await world.person({ ofOrg: true })]
    await set(ada, { daily_cap_cents: 1_000 })
    await set(team, { daily_cap_cents: 1 })
    const more = (await ada.send('POST', 'keys', { name: 'second' })).body.key
    const ask = (key: string) => world.byKey(key).send('POST', 'completions', { prompt: crypto.randomUUID() })
    expect((await ask(ada.key)).status).toBe(200)
    await spend(ada, 1_000)
    expect({ key: (await ask(ada.key)).status, more: (await ask(more)).status }).toEqual({ key: 402, more: 402 })
    expect((await ask(team.key)).status).toBe(200)
    await spend(team, 1)
    const { status, body } = await ask(team.key)
    expect({ status, code: body.error.code }).toEqual({ status: 402, code: 'insufficient_credits' })
    expect(body.error.message).toContain('cap of this organization')
  })

  test('set in the middle of a month know what the calls before them cost', async () => {
    const ada = await world.person()
    const usage = world.app.container.usage
    const call = { requestId: 'req_x', owner: ownerOf(ada), userId: ada.userId, keyId: null, endpoint: '/completions' }
    const facts = { mode: null, resolvedMode: null, model: null, status: 200, promptTokens: 1, completionTokens: 1 }
    const rest = { cached: false, latencyMs: 1, ttftMs: null, fallbackUsed: false }
    await store.write((tx) => usage.record(tx, { ...call, ...facts, ...rest, costMicro: 8 * CENT }))
    await set(ada, { daily_cap_cents: 10 })
    await expect(reserve(ada, 3)).rejects.toThrow('8.00 of it is spent')
    await spend(ada, 2)
    await expect(reserve(ada, 1)).rejects.toThrow('10.00 of it is spent')
  })

  test('count what is on hold, and free what a call did not use', async () => {
    const ada = await world.person()
    const before = await reserve(ada, 4)
    await set(ada, { daily_cap_cents: 10 })
    const during = await reserve(ada, 6)
    await expect(reserve(ada, 1)).rejects.toThrow('daily cap')
    await settle(during, 1)
    await settle(before, 4)
    await spend(ada, 5)
    await expect(reserve(ada, 1)).rejects.toThrow('daily cap')
  })

  test('of one who never had credit leave nothing in the wallet', async () => {
    const ada = await world.person({ cents: 0 })
    const empty = { daily_used_cents: 0, monthly_used_cents: 0, balance_cents: 0, reserved_cents: 0 }
    expect((await ada.send('GET', 'billing/limits')).body.usage).toEqual(empty)
    expect((await set(ada, { daily_cap_cents: 10 })).body.usage).toEqual(empty)
    await expect(reserve(ada, 1)).rejects.toMatchObject({ code: 'insufficient_credits' })
    expect(await billing.balance(store.read, ownerOf(ada))).toEqual({ balance: 0, held: 0, available: 0 })
    expect(await billing.verify(store.read)).toEqual([])
  })

  test('two hundred calls at the edge never pass it (I39)', async () => {
    for (let round = 0; round < 5; round++) {
      const ada = await world.person({ cents: 100_000 })
      await set(ada, { daily_cap_cents: 10 })
      const served = await outcomes(Array.from({ length: 200 }, () => reserve(ada, 1)))
      expect(served.filter((outcome) => outcome !== 'insufficient_credits')).toHaveLength(10)
    }
  }, 60_000)
})

describe('credits.low', () => {
  const news = () => low.splice(0)

  test('is told once when the balance goes below the threshold, and again after a top-up', async () => {
    const ada = await world.person({ cents: 600 })
    news()
    await spend(ada, 100)
    expect(news()).toEqual([])
    await Promise.all(Array.from({ length: 10 }, () => spend(ada, 1)))
    expect(news()).toEqual([{ scope: 'user', org_id: null, balance_cents: 499, threshold_cents: 500 }])
    const grant = {
      owner: ownerOf(ada),
      amount: 100 * CENT,
      ref: `again-${ada.userId}`,
      kind: 'grant',
      note: null,
    } as const
    await store.write((tx) => billing.grant(tx, grant))
    await spend(ada, 89)
    expect(news()).toEqual([])
    await spend(ada, 2)
    expect(news()).toHaveLength(1)
  })

  test('follows the threshold the owner set, and 0 is silence', async () => {
    const team = await world.person({ ofOrg: true, cents: 1_000 })
    await set(team, { low_balance_threshold_cents: 900 })
    news()
    await spend(team, 101)
    expect(news()).toEqual([{ scope: 'org', org_id: team.orgId, balance_cents: 899, threshold_cents: 900 }])
    await set(team, { low_balance_threshold_cents: 0 })
    await spend(team, 800)
    expect(news()).toEqual([])
    await set(team, { low_balance_threshold_cents: 99 })
    expect(news()).toEqual([])
    await set(team, { low_balance_threshold_cents: 100 })
    expect(news()).toMatchObject([{ balance_cents: 99, threshold_cents: 100 }])
  })

  test('is told of a correction and a refusal tells nothing', async () => {
    const ada = await world.person({ cents: 600 })
    news()
    await expect(reserve(ada, 700)).rejects.toMatchObject({ code: 'insufficient_credits' })
    const down = { owner: ownerOf(ada), amount: -200 * CENT, ref: `down-${ada.userId}`, note: null }
    await store.write((tx) => billing.adjust(tx, down))
    expect(news()).toMatchObject([{ balance_cents: 400 }])
  })
})

test('and the books hold', async () => {
  expect(await billing.verify(store.read)).toEqual([])
})
