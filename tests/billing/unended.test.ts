// Both databases: money.
import { afterAll, expect, test } from 'bun:test'
import { storageUnavailable } from '../../src/kernel/errors'
import type { Tx } from '../../src/kernel/store'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

const upstream = await startUpstream()
afterAll(upstream.stop)

test('a hold that its request could not end, because no write was possible, is released once one is', async () => {
  const world = await createWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted' } })
  const ada = await world.person({ cents: 40 })
  const { store, billing } = world.app.container
  const { write, writeTogether } = store
  let refused = 0
  const ends = (unit: unknown) => /billing\.(settle|release)|endAll/.test(String(unit))
  const refused503 = () => {
    refused += 1
    return Promise.reject(storageUnavailable())
  }
  const refuse = (unit: (tx: Tx) => Promise<unknown>) => (ends(unit) ? refused503() : write(unit))
  const refuseTogether: typeof writeTogether = (all, ...item) =>
    ends(all) ? refused503() : writeTogether(all, ...item)
  Object.assign(store, { write: refuse, writeTogether: refuseTogether })
  const input = { prompt: 'What is 2+2?' }
  const { status, body } = await ada.send('POST', 'completions', input)
  expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'storage_unavailable' })
  expect(refused).toBeGreaterThan(0)
  Object.assign(store, { write, writeTogether })
  // Read in a unit: on SQLite a hold becomes durable, and seen by readers, with the next commit.
  const held = () => store.write(async (tx) => (await billing.balance(tx, `user:${ada.userId}`)).held)
  expect(await held()).toBeGreaterThan(0)
  expect(await billing.releaseAbandoned()).toBe(1)
  expect(await held()).toBe(0)
  expect(await billing.verify(store.read)).toEqual([])
})
