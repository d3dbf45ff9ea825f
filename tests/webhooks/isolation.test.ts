// Timed: how late deliveries are.
import { expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const world = await createWorld({ config: { ...LOCAL, webhookRetrySchedule: '0,1,1,1' } })
const { make, publish } = webhooksIn(world)

const HEALTHY = 6
const EVENTS = 40
const LIMIT_MS = 2_000

test('a receiver that never answers delays no other, also of the same owner (I18)', async () => {
  const ada = await world.person()
  const over = Promise.withResolvers<Response>()
  const dead = createReceiver(() => over.promise)
  await make(ada, dead.url)
  const healthy = Array.from({ length: HEALTHY }, () => createReceiver())
  for (const { url } of healthy) await make(ada, url)
  const loop = world.app.container.jobs.start()
  const publishedAt = new Map<string, number>()
  try {
    for (let n = 0; n < EVENTS; n++) {
      publishedAt.set((await publish(ada)).body.id, performance.now())
      await Bun.sleep(20)
    }
    await eventually(() => healthy.every(({ got }) => got.length >= EVENTS))
    const late = healthy
      .flatMap(({ got }) => got.map(({ at, headers }) => at - publishedAt.get(headers['webhook-id']!)!))
      .sort((a, b) => a - b)
    expect(late.at(Math.floor(late.length * 0.99))!).toBeLessThan(LIMIT_MS)
    expect(healthy.map(({ got }) => got.length)).toEqual(Array(HEALTHY).fill(EVENTS))
    expect(dead.got.length).toBeLessThanOrEqual(4)
  } finally {
    over.resolve(new Response(null, { status: 200 }))
    await loop.stop()
  }
}, 120_000)
