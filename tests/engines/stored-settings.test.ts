import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { resealEngines } from '../../src/engines'
import { storedRepository } from '../../src/engines/table'
import { createWorld } from '../support/world'

test('another master key opens the settings that were kept, and the old one no more', async () => {
  const { store, container } = (await createWorld()).app
  const upstreams = { main: { kind: 'openai' as const, apiKey: 'upstream-secret' } }
  const [old, next, foreign] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  expect(await resealEngines(store.read, old, null)).toEqual({ sealed: 0, unreadable: 0 })
  await store.write(async (tx) => {
    const { stored } = await storedRepository.claim(tx, old)
    await storedRepository.write(tx, old, { ...stored, upstreams })
  })
  expect(await resealEngines(store.read, foreign, null)).toEqual({ sealed: 1, unreadable: 1 })
  expect(await store.write((tx) => resealEngines(tx, old, next))).toEqual({ sealed: 1, unreadable: 0 })
  expect((await storedRepository.read(store.read, next)).stored.upstreams).toEqual(upstreams)
  expect(storedRepository.read(store.read, old)).rejects.toThrow()
  // A server whose key does not open them says so, and serves with what its file says.
  await container.engineRegistry.refresh()
  expect(container.engineRegistry.newest().stored.upstreams).toEqual({})
})
