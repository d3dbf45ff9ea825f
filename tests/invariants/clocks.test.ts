import { afterAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { twoHandedClock } from '../support/two-handed-clock'
import { startUpstream } from '../support/upstream'
import { createWorld, operatorCall } from '../support/world'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const clock = twoHandedClock()
const world = await createWorld({ clock, config: { engineBaseUrl: upstream.url, signup: 'open' } })
const { container, store } = world.app

const soundness = async () => [
  ...(await container.billing.verify(store.read)),
  ...(await container.audit.verify(store.read)),
]

describe('I40 the wall clock jumps', () => {
  test('the record stays in the order in which things happened, and stays sound', async () => {
    const ada = await world.person({ ofOrg: true })
    const jumps = [0, DAY_MS, -2 * DAY_MS, HOUR_MS, -10 * 60_000, 25 * HOUR_MS, -DAY_MS]
    for (const [n, jump] of jumps.entries()) {
      clock.jump(jump)
      await ada.send('POST', 'completions', { prompt: `event ${n}`, mode: 'fast' })
    }
    const { body: events } = await ada.send('GET', 'audit?action=completion.created')
    expect(events).toHaveLength(jumps.length)
    const times = events.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp))
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a))
    expect(await soundness()).toEqual([])
  })

  test('conversations written before and after a jump back are all listed, page by page', async () => {
    const ada = await world.person()
    for (const jump of [0, -DAY_MS, DAY_MS, -HOUR_MS]) {
      clock.jump(jump)
      await ada.send('POST', 'completions', { prompt: `turn ${jump}`, mode: 'fast' })
    }
    const ids = new Set<string>()
    for (let cursor = ''; ; ) {
      const { body } = await ada.send('GET', `conversations?limit=1${cursor}`)
      for (const { id } of body.conversations) ids.add(id)
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(ids.size).toBe(4)
  })

  test('a remembered answer lives as long as time passes, not as long as the wall says', async () => {
    const ada = await world.person()
    const ask = async () =>
      (await ada.send('POST', 'completions', { prompt: 'remember', mode: 'fast' })).body._cached === true
    expect(await ask()).toBe(false)
    clock.jump(DAY_MS)
    expect(await ask()).toBe(true)
    clock.jump(-2 * DAY_MS)
    expect(await ask()).toBe(true)
    clock.advance(301_000)
    expect(await ask()).toBe(false)
  })

  test.each([DAY_MS, -DAY_MS])(
    'a call that runs while the wall moves by %i ms is charged once at most, and nothing stays held',
    async (jump) => {
      const ada = await world.person({ cents: 100 })
      const owner = `user:${ada.userId}` as const
      const calls = upstream.calls.length
      const running = ada.send('POST', 'completions', { prompt: `slow ${jump} [[held]]`, mode: 'think' })
      await eventually(() => upstream.calls.length > calls)
      clock.jump(jump)
      await container.billing.releaseAbandoned()
      upstream.release()
      const { status, body } = await running
      expect(status).toBe(200)
      const { balance, held } = await container.billing.balance(store.read, owner)
      const charged = 100 - balance / 1_000_000
      expect(held).toBe(0)
      expect(charged === 0 || Math.abs(charged - body.usage.cost_cents) < 1e-9).toBe(true)
      expect(await soundness()).toEqual([])
    },
  )

  test('a session past its time is refused, and one is never made longer than its time by the wall moving back', async () => {
    const account = { email: 'clock@example.com', password: 'a password of its own' }
    const { body } = await world.send('POST', 'auth/signup', account)
    const me = () => world.send('GET', 'auth/me', undefined, { authorization: `Bearer ${body.session_token}` })
    expect((await me()).status).toBe(200)
    clock.jump(DAY_MS)
    expect((await me()).status).toBe(401)
    clock.jump(-DAY_MS)
  })

  test('a key past its expiry is refused at once, though it was used a moment ago', async () => {
    const ada = await world.person()
    const made = await store.write((tx) =>
      container.keys.createIn(tx, operatorCall(), {
        name: 'brief',
        userId: ada.userId,
        orgId: null,
        expires_at: new Date(clock.now() + HOUR_MS).toISOString(),
      }),
    )
    const use = () => world.send('GET', 'models', undefined, { authorization: `Bearer ${made.key}` })
    expect((await use()).status).toBe(200)
    clock.jump(2 * HOUR_MS)
    expect((await use()).status).toBe(401)
  })

  test('health and limits tell no negative time', async () => {
    clock.jump(-3 * DAY_MS)
    const ada = await world.person()
    const [health, limits] = [await world.send('GET', 'health'), await ada.send('GET', 'rate-limits')]
    const latencies = Object.values({ ...health.body.providers, ...health.body.infrastructure } as Record<
      string,
      { latencyMs: number | null }
    >)
    expect(latencies.every(({ latencyMs }) => latencyMs === null || latencyMs >= 0)).toBe(true)
    expect(limits.body.usage.requests.reset).toMatch(/^\d+s$/)
  })
})
