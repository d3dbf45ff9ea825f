import { describe, expect, test } from 'bun:test'
import { KeyId } from '../../src/kernel/ids'
import { createRollup, createUsageLog } from '../../src/usage'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'

const NOON = '2026-03-15T12:00:00.000Z'
const clock = fakeClock(NOON)
const world = await createWorld({ clock })
const { store } = world.app.container

type Called = { mode: string; model: string; status: number; cents: number; cached: boolean; skills: string[] }
/** One call of a person's, some time before now. */
const call = (person: Person, daysAgo: number, called: Partial<Called> = {}) => {
  const { mode = 'fast', model = 'svc-1-flash', status = 200, cents = 1, cached = false, skills = [] } = called
  const entry = {
    requestId: 'req_1',
    userId: person.userId,
    keyId: person.keyId as KeyId,
    endpoint: '/completions',
    owner: person.orgId ? (`org:${person.orgId}` as const) : (`user:${person.userId}` as const),
    mode,
    resolvedMode: mode === 'auto' ? 'think' : mode,
    model,
    status,
    cached,
    skills,
    promptTokens: 10,
    completionTokens: 5,
    costMicro: cents * 1_000_000,
    latencyMs: 40,
    ttftMs: null,
    fallbackUsed: false,
  }
  const then = { ...clock, now: () => clock.now() - daysAgo * 86_400_000 }
  return store.write((tx) => recordAt(then)(tx, entry))
}
const recordAt = (at: typeof clock) => createUsageLog({ clock: at }).record

describe('GET /usage (docs/api.md 18.1)', () => {
  test('adds up the last 30 days of your own calls', async () => {
    const ada = await world.person({ cents: 70 })
    await call(ada, 31)
    await call(ada, 29, { mode: 'auto', model: 'svc-1-think', cents: 2.5 })
    await call(ada, 1, { cached: true, cents: 0 })
    await call(ada, 1, { status: 429, cents: 0 })
    await call(ada, 0, { skills: ['one', 'two'] })
    await call(ada, 0, { status: 503, cents: 0, skills: ['two'] })
    await createRollup({ store })(3)
    const { status, body } = await ada.send('GET', 'usage')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      period: { from: '2026-02-13T12:00:00.001Z', to: '2026-03-15T12:00:00.001Z' },
      scope: 'user',
      totals: { requests: 5, prompt_tokens: 50, completion_tokens: 25, total_tokens: 75, cost_cents: 3.5 },
      by_mode: { fast: { requests: 4, cost_cents: 1 }, think: { requests: 1, cost_cents: 2.5 } },
      by_model: { 'svc-1-flash': { requests: 4, cost_cents: 1 }, 'svc-1-think': { requests: 1, cost_cents: 2.5 } },
      by_skill: { one: { requests: 1, cost_cents: 1 }, two: { requests: 2, cost_cents: 1 } },
      by_day: [
        { date: '2026-02-14', requests: 1, total_tokens: 15, cost_cents: 2.5 },
        { date: '2026-03-14', requests: 2, total_tokens: 30, cost_cents: 0 },
        { date: '2026-03-15', requests: 2, total_tokens: 30, cost_cents: 1 },
      ],
      latency_ms: { p50: 40, p95: 40, p99: 40 },
      cache: { hits: 1, misses: 2, hit_rate: 1 / 3 },
      errors: { '4xx': 1, '5xx': 1 },
      balance: { balance_cents: 70, reserved_cents: 0, currency: 'usd', expiring: [] },
      spending: { daily_cap_cents: null, daily_used_cents: 1, monthly_cap_cents: null, monthly_used_cents: 1 },
    })
  })

  test('is all zeros for someone who never called', async () => {
    expect((await (await world.person()).send('GET', 'usage')).body).toMatchObject({
      totals: { requests: 0, cost_cents: 0 },
      by_mode: {},
      by_day: [],
      latency_ms: { p50: 0, p95: 0, p99: 0 },
      cache: { hits: 0, misses: 0, hit_rate: 0 },
    })
  })

  const filters: [string, number][] = [
    ['mode=fast', 2],
    ['mode=auto', 1],
    ['mode=think', 2],
    ['mode=roast', 0],
    ['skill=one', 2],
    ['skill=one&mode=think', 1],
    ['skill=none', 0],
    ['from=2026-03-15', 3],
    ['from=2026-03-01&to=2026-03-13', 1],
    ['from=2026-03-01T00:00:00Z&to=2026-03-15T12:00:00Z', 1],
    ['key_id=MINE', 4],
    [`key_id=${KeyId.create()}`, 0],
    ['key_id=not-a-key', 0],
    ['scope=user', 4],
  ]
  test.each(filters)('%s finds %i of four calls', async (query, requests) => {
    const ada = await world.person()
    await call(ada, 3)
    await call(ada, 0, { mode: 'auto', skills: ['one'] })
    await call(ada, 0, { mode: 'think', skills: ['two'] })
    await call(ada, 0, { skills: ['one'] })
    for (const half of [1, 1_000]) {
      expect((await ada.send('GET', `usage?${query.replace('MINE', ada.keyId)}`)).body.totals.requests).toBe(requests)
      await createRollup({ store })(half)
    }
  })

  test('counts each cap period from 00:00 UTC', async () => {
    const ada = await world.person()
    for (const daysAgo of [0, 0.4, 0.6, 13, 14.4, 14.6]) await call(ada, daysAgo)
    const { body } = await ada.send('GET', 'usage?from=2026-03-15T11:00:00Z')
    expect(body.spending).toMatchObject({ daily_used_cents: 2, monthly_used_cents: 5 })
  })
})

describe('whose usage', () => {
  test("an org key sees its org's, and never a person's", async () => {
    const org = await world.person({ ofOrg: true })
    await call(org, 0)
    expect((await org.send('GET', 'usage')).body).toMatchObject({ scope: 'org', totals: { requests: 1 } })
    expect((await org.send('GET', 'usage?scope=org')).body).toMatchObject({ scope: 'org', totals: { requests: 1 } })
    const refused = await org.send('GET', 'usage?scope=user')
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  test("another person's key, org or id finds nothing of it", async () => {
    const [ada, org, eve] = [await world.person(), await world.person({ ofOrg: true }), await world.person()]
    await call(ada, 0)
    await call(org, 0)
    const { body: nothing } = await eve.send('GET', `usage?key_id=${KeyId.create()}`)
    for (const theirs of [ada.keyId, org.keyId]) {
      const { body } = await eve.send('GET', `usage?key_id=${theirs}`)
      expect({ ...body, period: 0, request_id: 0 }).toEqual({ ...nothing, period: 0, request_id: 0 })
      expect((await eve.send('GET', `usage/export?key_id=${theirs}`)).text.trim().split('\r\n')).toHaveLength(1)
    }
    expect((await eve.send('GET', 'usage')).body.totals.requests).toBe(0)
  })
})

const refusals: [string, string, string][] = [
  ['from=9999', 'validation_error', 'from'],
  ['from=2026-02-31', 'validation_error', 'from'],
  ['to=yesterday', 'validation_error', 'to'],
  ['from=2026-03-02&to=2026-03-01', 'validation_error', 'from'],
  ['from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z', 'validation_error', 'from'],
  ['from=2026-04-01', 'validation_error', 'from'],
  ['from=2016-01-01&to=2026-01-01', 'validation_error', 'from'],
  ["from=2026-01-01' OR 1=1--&group_by=(select hex(randomblob(1e8)))", 'validation_error', 'from'],
  ['scope=team', 'validation_error', 'scope'],
  ['key_id=', 'validation_error', 'key_id'],
  [`key_id=${'x'.repeat(65)}`, 'validation_error', 'key_id'],
  ['mode=', 'validation_error', 'mode'],
  [`skill=${'x'.repeat(129)}`, 'validation_error', 'skill'],
  ['scope=org', 'org_required', 'scope'],
]
describe.each(['usage', 'usage/export'])('GET /%s refuses (F2, S10)', (path) => {
  test.each(refusals)('%s', async (query, code, param) => {
    const { status, body } = await (await world.person()).send('GET', `${path}?${encodeURI(query)}`)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code })
    if (param) expect(body.error.param).toBe(param)
  })
})
