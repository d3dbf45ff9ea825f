// Timed: how late deliveries are.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createWorld } from '../support/world'
import { runCrowd, startReceivers } from './crowd'
import { LOCAL } from './support'

const world = await createWorld({ config: { ...LOCAL, maxActiveWebhooks: 100 } })
const receivers = await startReceivers()
afterAll(() => receivers.stop())
const place = world.config.databaseUrl
  ? ({ dialect: 'postgres', url: world.config.databaseUrl } as const)
  : ({ dialect: 'sqlite', path: join(world.folder, 'svc.db') } as const)

test('20,000 deliveries that wait for dead receivers delay none of the others (I18)', async () => {
  const size = { webhooks: 80, owners: 4, deadEach: 20, pending: 20_000, eventsPerS: 20, seconds: 4 }
  const { published, expected, delivered, p99, waiting } = await runCrowd(world.app, place, receivers, size)
  expect(published).toBe(80)
  expect(delivered).toBe(expected)
  expect(p99).toBeLessThan(2_000)
  expect(waiting).toBeGreaterThanOrEqual(20_000)
}, 120_000)
