import { expect, test } from 'bun:test'
import type { KeyId } from '../../src/kernel/ids'
import { createRollup, createUsageLog } from '../../src/usage'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'

const clock = fakeClock('2026-03-15T12:00:00.000Z')
const world = await createWorld({ clock })
const { store } = world.app.container

type Called = { mode?: string; status?: number; cents?: number; cached?: boolean; endpoint?: string; keyId?: null }
/** One call of a person's, some hours before now. */
const call = (person: Person, hoursAgo: number, called: Called = {}) => {
  const { mode = 'fast', status = 200, cents = 1, cached = false, endpoint = '/completions' } = called
  const then = { ...clock, now: () => clock.now() - hoursAgo * 3_600_000 }
  return store.write((tx) =>
    createUsageLog({ clock: then }).record(tx, {
      requestId: 'req_1',
      userId: person.userId,
      keyId: called.keyId === null ? null : (person.keyId as KeyId),
      endpoint,
      owner: `user:${person.userId}` as const,
      mode,
      resolvedMode: mode,
      model: 'svc-1-flash',
      status,
      cached,
      skills: [],
      promptTokens: 1_000,
      completionTokens: 0,
      costMicro: cents * 1_000_000,
      latencyMs: 40,
      ttftMs: null,
      fallbackUsed: false,
    }),
  )
}
const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)

test('buckets, totals and the report are one number, rolled up or not', async () => {
  const ada = await world.person()
  for (let hour = 0; hour < 60; hour += 5)
    await call(ada, hour, { mode: hour % 2 ? 'think' : 'fast', cents: hour / 10 })
  await call(ada, 3, { cached: true, cents: 0 })
  await call(ada, 4, { status: 503, cents: 0 })
  for (const isRolled of [false, true]) {
    if (isRolled) await createRollup({ store })(20)
    for (const query of ['', 'step=1h&from=2026-03-12', 'timezone=Asia/Kolkata', 'timezone=America/New_York']) {
      const report = (await ada.send('GET', `usage?${query.startsWith('step') ? 'from=2026-03-12' : ''}`)).body
      for (const group of ['none', 'mode', 'model', 'key', 'endpoint', 'status']) {
        const { status, body } = await ada.send('GET', `usage/series?${query}&group_by=${group}`)
        const name = `${isRolled} ${query} ${group}`
        expect({ name, status }).toEqual({ name, status: 200 })
        const cost = body.series.map(({ cost_cents }: { cost_cents: number[] }) => sum(cost_cents))
        const { requests, cost_cents, errors, cache_hits, saved_cents } = body.totals
        expect({ name, requests, cost_cents, errors, cache_hits, saved_cents }).toEqual({
          ...{ name, requests: 14, cost_cents: report.totals.cost_cents, errors: 1, cache_hits: 1 },
          // What 1,000 tokens of this engine cost.
          saved_cents: 0.02,
        })
        expect({ name, cost: sum(cost) }).toEqual({ name, cost: expect.closeTo(report.totals.cost_cents, 6) })
      }
    }
  }
  const { body } = await ada.send('GET', 'usage/series?group_by=mode&from=2026-03-13&to=2026-03-15&step=1d&top=1')
  expect(body).toMatchObject({
    buckets: ['2026-03-13T00:00:00.000Z', '2026-03-14T00:00:00.000Z', '2026-03-15T00:00:00.000Z'],
    series: [{ key: 'think', label: 'think' }],
    other: { key: 'other' },
  })
  expect(body.series[0].p50[1]).toBe(40)
})

test('a series that ends within five minutes has the calls of its period, and no series for others', async () => {
  const eve = await world.person()
  const minutes = (mode: string, ago: number) => call(eve, ago / 60, { mode })
  for (const [mode, ago] of [
    ['think', 179.5],
    ['fast', 177],
    ['fast', 120],
    ['fast', 57],
    ['think', 55.5],
  ] as const)
    await minutes(mode, ago)
  while (!(await createRollup({ store })()).done);
  const span = 'from=2026-03-15T09:01:00Z&to=2026-03-15T11:04:00Z'
  for (const group of ['none', 'mode', 'key']) {
    const { body } = await eve.send('GET', `usage/series?${span}&step=5m&group_by=${group}`)
    expect(body.totals).toMatchObject({ requests: 3, cost_cents: 3, p50: 40 })
    expect(body.series.map(({ requests }: { requests: number[] }) => sum(requests))).toEqual([3])
  }
})

test('calls of sessions are apart from those of keys, and keys have their names', async () => {
  const bob = await world.person()
  await call(bob, 1, { cents: 2 })
  await call(bob, 1, { cents: 1, keyId: null })
  await createRollup({ store })(20)
  const { body } = await bob.send('GET', 'usage/series?group_by=key')
  expect(
    body.series.map(({ key, cost_cents }: { key: string; cost_cents: number[] }) => [key, sum(cost_cents)]),
  ).toEqual([
    [bob.keyId, 2],
    ['none', 1],
  ])
  expect(body.series[0].label).not.toBe(bob.keyId)
})

test('days begin at midnight of the time zone, also when the clock changes', async () => {
  const eve = await world.person()
  const { body } = await eve.send('GET', 'usage/series?timezone=America/New_York&step=1d&from=2026-03-07&to=2026-03-10')
  expect(body.buckets.map((at: string) => at.slice(5, 16))).toEqual([
    '03-06T05:00',
    '03-07T05:00',
    '03-08T05:00',
    '03-09T04:00',
    '03-10T04:00',
  ])
})

test('the time before is compared, and nothing of others is seen', async () => {
  const [cy, stranger] = [await world.person(), await world.person()]
  await call(cy, 1, { cents: 3 })
  await call(cy, 30, { cents: 4 })
  const query = 'usage/series?from=2026-03-14T12:00:00Z&compare=previous'
  const { body } = await cy.send('GET', query)
  expect({ now: body.totals.cost_cents, before: body.previous_totals.cost_cents }).toEqual({ now: 3, before: 4 })
  expect((await stranger.send('GET', query)).body.totals.requests).toBe(0)
  for (const wrong of ['step=5m', 'timezone=Mars/Base', 'top=13', 'group_by=colour']) {
    expect({ wrong, status: (await cy.send('GET', `usage/series?${wrong}`)).status }).toEqual({ wrong, status: 400 })
  }
})
