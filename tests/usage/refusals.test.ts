import { describe, expect, test } from 'bun:test'
import { createRollup } from '../../src/usage'
import { createRefusals } from '../../src/usage/service'
import { usageRollups } from '../../src/usage/table'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'

const clock = fakeClock('2026-03-15T12:07:00.000Z')
const world = await createWorld({ clock })
const { store, usage } = world.app.container
const { refusals } = usage

const flushAll = async () => {
  while ((await refusals.flush(store)) > 0);
}
const errorsOf = async (person: Person, query = '') => (await person.send('GET', `usage?${query}`)).body.errors['4xx']

describe('a call that is refused before it begins (docs/api.md 18.1)', () => {
  type Refusal = [string, number, (person: Person) => Promise<{ status: number }>]
  const refusedCalls: Refusal[] = [
    ['a body without a prompt', 400, (person) => person.send('POST', 'completions', {})],
    ['no credit', 402, (person) => person.send('POST', 'completions', { prompt: 'hi' })],
    ['a scope the key lacks', 403, (person) => person.send('GET', 'audit')],
    ['an id that is not there', 404, (person) => person.send('GET', 'conversations/nothing')],
    ['no such route', 404, (person) => person.send('GET', 'nothing')],
    ['a clash', 409, (person) => person.send('POST', 'orgs', { name: 'Acme', slug: 'taken' })],
  ]
  test.each(refusedCalls)('%s counts as one of 4xx', async (_, wanted, send) => {
    await (await world.person()).send('POST', 'orgs', { name: 'Acme', slug: 'taken' })
    const scopes = wanted === 403 ? (['completions'] as const) : undefined
    const ada = await world.person({ cents: 0, ...(scopes ? { scopes: [...scopes] } : {}) })
    expect((await send(ada)).status).toBe(wanted)
    expect(await errorsOf(ada)).toBe(1)
    await flushAll()
    expect((await ada.send('GET', 'usage')).body).toMatchObject({
      errors: { '4xx': 1, '5xx': 0 },
      totals: { requests: 0, cost_cents: 0 },
      by_mode: {},
      by_model: {},
      by_day: [],
      cache: { hits: 0, misses: 0, hit_rate: 0 },
    })
  })

  test('counts for its key and its owner, and for nobody who is not known', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await ada.send('GET', 'nothing')
    await world.send('GET', 'nothing')
    await world.send('GET', 'orgs', undefined, { authorization: 'Bearer svc_sk_live_wrong' })
    for (const flush of [async () => undefined, flushAll]) {
      await flush()
      expect(await errorsOf(ada)).toBe(1)
      expect(await errorsOf(ada, `key_id=${ada.keyId}`)).toBe(1)
      expect(await errorsOf(ada, 'key_id=another')).toBe(0)
      expect(await errorsOf(ada, 'from=2026-03-15T12:05:00Z')).toBe(1)
      expect(await errorsOf(ada, 'from=2026-03-14&to=2026-03-14')).toBe(0)
      expect(await errorsOf(ada, 'mode=fast')).toBe(0)
      expect(await errorsOf(eve)).toBe(0)
    }
  })

  test('is not counted twice when a row already tells of it', async () => {
    const own = createRefusals({ clock })
    const [notice, news] = [new Error('ended under way'), new Error('refused')]
    own.markRecorded(notice)
    for (const error of [notice, news, null]) own.note('user:ada', null, error)
    expect(own.waiting({ owner: 'user:ada' }, { from: 0, to: clock.now() })).toBe(2)
  })
})

describe('a flood of refusals', () => {
  test('is five rows a key, however many they are', async () => {
    const ada = await world.person({ tier: 'free' })
    for (let n = 0; n < 60; n++) await ada.send('GET', 'models')
    for (let n = 0; n < 200; n++) expect((await ada.send('GET', 'models')).status).toBe(429)
    await flushAll()
    const t = store.read.of(usageRollups)
    const rows = (await store.read.select().from(t)).filter(({ owner }) => owner === `user:${ada.userId}`)
    expect(rows).toHaveLength(5)
    expect(new Set(rows.map(({ refused }) => refused))).toEqual(new Set([200]))
  })

  test('waits on when it cannot be written down', async () => {
    const own = createRefusals({ clock })
    own.note('user:ada', null, null)
    const failing = { ...store, write: async () => Promise.reject(new Error('the disk is full')) }
    await expect(own.flush(failing as typeof store)).rejects.toThrow('the disk is full')
    expect(own.waiting({ owner: 'user:ada' }, { from: 0, to: clock.now() })).toBe(1)
    expect(await own.flush(store)).toBe(1)
    expect(await own.flush(store)).toBe(0)
  })

  test('leaves the latencies of calls that began as they were', async () => {
    const ada = await world.person({ cents: 100 })
    await ada.send('POST', 'completions', { prompt: 'hi' })
    await createRollup({ store })()
    const before = (await ada.send('GET', 'usage')).body
    await ada.send('GET', 'nothing')
    await flushAll()
    const after = (await ada.send('GET', 'usage')).body
    expect(after).toMatchObject({ totals: before.totals, latency_ms: before.latency_ms, cache: before.cache })
    expect(after.errors).toEqual({ '4xx': 1, '5xx': 0 })
  })
})

test.each([
  ['usage', 'mode'],
  ['usage/export', 'mode'],
  ['audit', 'mode'],
  ['audit/export', 'mode'],
  ['audit', 'entity_type'],
])('%s refuses a %s that no call has', async (path, name) => {
  const ada = await world.person()
  const { status, body } = await ada.send('GET', `${path}?${name}=nope`)
  expect({ status, param: body.error?.param }).toEqual({ status: 400, param: name })
  expect((await ada.send('GET', `${path}?${name}=document`)).status).toBe(200)
})
