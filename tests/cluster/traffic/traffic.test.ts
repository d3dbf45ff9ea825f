import { afterAll, describe, expect, test } from 'bun:test'
import { createLive, createTraces, createTraffic } from '../../../src/cluster'
import { systemClock } from '../../../src/kernel/clock'
import { openPostgres, type Wire } from '../../../src/kernel/store'
import { fakeClock } from '../../support/clock'
import { eventually } from '../../support/eventually'
import { createPostgresDatabase, postgresUrl } from '../../support/store'

if (!postgresUrl)
  process.stdout.write('NOT RUN: what processes tell each other of requests: SVC_TEST_POSTGRES_URL is not set.\n')

const line = (id: string, status = 200, ms = 10, follows = false) => ({
  follows,
  ...{ id, status, ms, method: 'GET', path: '/api/v1/models' },
  ...{ key: null, user: null, code: null },
})

const alone = (clock = fakeClock()) => {
  const live = createLive({ wire: null, node: 'one', clock, onError: () => undefined })
  return { clock, traffic: createTraffic({ clock, live, node: 'one' }) }
}

describe('of one process', () => {
  test('says what a request was charged, where something was', () => {
    const clock = fakeClock()
    const live = createLive({ wire: null, node: 'one', clock, onError: () => undefined })
    const traces = createTraces({ clock, live, node: 'one' })
    const traffic = createTraffic({ clock, live, node: 'one', costOf: traces.costOf })
    traces.step('a', 'settled', 'POST /completions', 5, { cost_cents: 0.02 })
    traces.step('b', 'settled', 'POST /completions', 5, { cost_cents: 0 })
    for (const id of ['a', 'b', 'c']) traffic.note(line(id))
    expect(traffic.newest(3).map(({ cost_cents }) => cost_cents)).toEqual([null, null, 0.02])
  })

  test('leaves the time of streams that last as long as their reader out of the percentiles', () => {
    const { traffic } = alone()
    traffic.note(line('a', 200, 100))
    for (const id of ['b', 'c', 'd']) traffic.note(line(id, 200, 3_600_000, true))
    const { recent, p95s, requests } = traffic.summary()
    expect({ requests: requests.at(-1), p50: recent.p50, p95: recent.p95, p95s: p95s.at(-1) }).toEqual({
      requests: 4,
      p50: 130,
      p95: 130,
      p95s: 130,
    })
    expect(traffic.newest(1)).toMatchObject([{ id: 'd', ms: 3_600_000 }])
  })

  test('lists the newest first, and counts by minute and status', () => {
    const { clock, traffic } = alone()
    for (const [id, status] of [
      ['a', 200],
      ['b', 402],
      ['c', 429],
      ['d', 503],
    ] as const) {
      traffic.note(line(id, status, 100))
    }
    expect(traffic.newest(3).map(({ id }) => id)).toEqual(['d', 'c', 'b'])
    const { requests, errors, recent } = traffic.summary()
    expect(requests).toHaveLength(60)
    expect(requests.at(-1)).toBe(4)
    expect(errors.at(-1)).toBe(3)
    expect(recent).toMatchObject({
      requests: 4,
      error_rate: 0.75,
      '4xx': 2 / 5,
      '402': 1 / 5,
      '429': 1 / 5,
      '5xx': 1 / 5,
    })
    expect(recent.p95).toBeGreaterThanOrEqual(100)
    expect(recent.p95).toBeLessThanOrEqual(150)
    clock.advance(61 * 60_000)
    expect(traffic.summary().requests).toEqual(Array(60).fill(0))
  })

  test('keeps no more than it says, however many come', () => {
    const { traffic } = alone()
    for (let at = 0; at < 10_000; at++) traffic.note(line(`r${at}`))
    expect(traffic.newest(100_000).length).toBeLessThan(4_000)
    expect(traffic.newest(1)[0]!.id).toBe('r9999')
  })
})

describe.skipIf(!postgresUrl)('of two processes of one database', () => {
  const open = async () => {
    const database = await createPostgresDatabase(postgresUrl!)
    const stores = [openPostgres({ url: database.url }), openPostgres({ url: database.url })]
    const lives = stores.map(({ wire }, at) =>
      createLive({ wire: wire as Wire, node: `node-${at}`, clock: systemClock, onError: () => undefined }),
    )
    const loops = lives.map((live) => live.start())
    afterAll(async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
      await Promise.all(stores.map((store) => store.close()))
      await database.drop()
    })
    await eventually(() => stores.every(({ wire }) => wire!.hearing()))
    const [one, other] = lives.map((live, at) => createTraffic({ clock: systemClock, live, node: `node-${at}` }))
    const [mine, theirs] = lives.map((live, at) => createTraces({ clock: systemClock, live, node: `node-${at}` }))
    return { one: one!, other: other!, mine: mine!, theirs: theirs! }
  }

  test('whoever asks for the steps of a request gets them from the process that answered it', async () => {
    const { mine, theirs } = await open()
    const error = 'x'.repeat(2_000)
    for (let at = 0; at < 20; at++) theirs.step('req_1', 'engine', `e${at}`, 1, { error })
    await eventually(async () => (await mine.find('req_1')).length === 20)
    expect((await mine.find('req_1'))[0]).toMatchObject({ kind: 'engine', facts: { error } })
    expect(await mine.find('req_2')).toEqual([])
  })

  test('whoever looks sees what the other answers, and what it counted before', async () => {
    const { one, other } = await open()
    other.note(line('before'))
    one.watch()
    await eventually(() => one.summary().recent.requests === 1)
    other.note(line('after', 500))
    await eventually(() => one.newest(10).some(({ id }) => id === 'after'))
    await eventually(() => one.summary().recent.requests === 2)
    expect(one.newest(10).map(({ id }) => id)).toEqual(['after'])
    expect(other.newest(10).map(({ id }) => id)).toEqual(['after', 'before'])
  })
})
