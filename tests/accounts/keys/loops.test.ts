import { expect, test } from 'bun:test'
import { startLastUsedLoop } from '../../../src/accounts'
import type { KeyId } from '../../../src/kernel/ids'
import { createLastSeenBuffer } from '../../../src/kernel/last-seen-buffer'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const settle = () => Bun.sleep(0)

test('when a key was last used is written every 15 seconds, at most 500 keys in one transaction', async () => {
  const { clock, keys, addUser, session } = createWorld(store)
  const call = await session((await addUser()).id)
  const { id } = await keys.create(call, {})
  const lastSeenBuffer = createLastSeenBuffer<KeyId>({ clock })
  const errors: string[] = []
  let writes = 0
  let away = false
  const counting = {
    ...store,
    write: ((unit) => {
      writes += 1
      if (away) throw new Error('away')
      return store.write(unit)
    }) as typeof store.write,
  }
  const onError = (name: string, error: unknown) => void errors.push(`${name}: ${(error as Error).message}`)
  const loop = startLastUsedLoop({ store: counting, sightings: lastSeenBuffer, clock, onError })
  await settle()
  lastSeenBuffer.note(id)
  for (let made = 0; made < 500; made++) lastSeenBuffer.note(crypto.randomUUID() as KeyId)
  const noted = new Date(clock.now()).toISOString()
  clock.advance(14_999)
  await settle()
  expect(writes).toBe(0)
  clock.advance(1)
  while ((await keys.get(call, id)).last_used_at === null) await settle()
  while (writes < 2) await settle()
  expect((await keys.get(call, id)).last_used_at).toBe(noted)
  expect(writes).toBe(2)
  away = true
  // A key is noted once a minute.
  while (!clock.wakesWithin(15_000)) await settle()
  clock.advance(60_000)
  while (!clock.wakesWithin(15_000)) await settle()
  lastSeenBuffer.note(id)
  clock.advance(15_000)
  while (!errors.length) await settle()
  expect(errors).toEqual(['keys-last-used: away'])
  await loop.stop()
})
