import { describe, expect, test } from 'bun:test'
import { createAccessWatch, removeExpiredSessions, startAccessLoop } from '../../../src/accounts'
import type { KeyCaller } from '../../../src/kernel/caller'
import type { AppError } from '../../../src/kernel/errors'
import type { Store } from '../../../src/kernel/store'
import { callOf, keyCaller, operatorCaller } from '../../support/callers'
import { eventually } from '../../support/eventually'
import { openTestStore } from '../../support/store'
import { counting } from '../keys/world'
import { createAuthWorld } from './world'

const store = await openTestStore()
const HOUR = 3_600_000

/** A process of its own over the shared database: modules, caches and watch. */
function node(reading: Store = store) {
  const world = createAuthWorld(reading)
  const { lookup: keys, sessions, orgs, lastSeen } = world
  const access = createAccessWatch({
    store: reading,
    keys,
    sessions,
    orgs,
    sessionUses: lastSeen,
  })
  return { ...world, access }
}

const reasonOf = (signal: AbortSignal) => (signal.aborted ? (signal.reason as AppError).code : null)

describe('a running answer', () => {
  test('ends when another node revokes its key, and only that key', async () => {
    const [here, there] = [node(), node()]
    const ada = await here.addUser()
    const [gone, stored] = [await here.withKey(ada.id), await here.withKey(ada.id)]
    const ended = here.access.follow(gone.call.caller)
    const running = here.access.follow(stored.call.caller)
    await here.access.check()
    expect({ ended: reasonOf(ended.signal), running: reasonOf(running.signal) }).toEqual({ ended: null, running: null })
    await there.keys.revoke(await there.session(ada.id), gone.key.id)
    await here.access.check()
    expect(reasonOf(ended.signal)).toBe('invalid_api_key')
    expect(reasonOf(running.signal)).toBe(null)
  })

  test('goes on with the secret of before a rotation until its grace is over', async () => {
    const { addUser, withKey, keys, session, access, clock, lookup } = node()
    const ada = await addUser()
    const { key, call } = await withKey(ada.id)
    const input = { grace_period_seconds: 60 }
    const rotated = await keys.rotate(await session(ada.id), key.id, input)
    const [old, fresh] = [access.follow(call.caller), access.follow((await lookup.find(rotated.key))!)]
    clock.advance(59_999)
    await access.check()
    expect(reasonOf(old.signal)).toBeNull()
    clock.advance(1)
    await access.check()
    expect(reasonOf(old.signal)).toBe('invalid_api_key')
    expect(reasonOf(fresh.signal)).toBe(null)
  })

  test('ends when its session expires; a use that is not written yet extends it', async () => {
    const { join, bearer, sessions, lastSeen, access, clock, store } = node()
    const { session_token: token } = await join()
    clock.advance(12 * HOUR - 1)
    const caller = (await bearer(token))!
    const running = access.follow(caller)
    clock.advance(1)
    await access.check()
    expect(reasonOf(running.signal)).toBeNull()
    clock.advance(12 * HOUR - 1)
    await lastSeen.flush()
    await removeExpiredSessions({ store, clock })
    await access.check()
    expect(await sessions.find(token)).toBe(null)
    expect(reasonOf(running.signal)).toBe('invalid_session')
  })

  test('of a person goes on in a suspended organization they do not work in, and ends in the one they do', async () => {
    const { addUser, addOrg, withKey, orgs, access } = node()
    const ada = await addUser()
    const [active, other] = [await addOrg(ada.id), await addOrg(ada.id, 'Other')]
    await store.write((tx) => orgs.makeActive(tx, ada.id, active.id))
    const { call } = await withKey(ada.id)
    const running = access.follow(call.caller)
    const asOperator = callOf(operatorCaller())
    await orgs.setOrgSuspended(asOperator, other.id, true)
    await access.check()
    expect(reasonOf(running.signal)).toBeNull()
    await orgs.setOrgSuspended(asOperator, active.id, true)
    await access.check()
    expect(reasonOf(running.signal)).toBe('forbidden')
  })

  test('that is over is not looked at any more', async () => {
    const { access } = node()
    const over = access.follow(keyCaller())
    over.end()
    await access.check()
    expect(over.signal.aborted).toBe(false)
  })
})

describe('looking', () => {
  const hash = (n: number) => n.toString(16).padStart(64, '0')

  test('takes as many queries for 10,000 answers as for one, and none for none', async () => {
    const counted = counting(store, 'select')
    const { access } = node(counted.store)
    await access.check()
    expect(counted.reads()).toBe(0)
    access.follow(keyCaller({ secretHash: hash(0) }))
    await access.check()
    const forOne = counted.reads()
    const many = Array.from({ length: 10_000 }, (_, n): KeyCaller => keyCaller({ secretHash: hash(n) }))
    const running = many.map((caller) => access.follow(caller))
    await access.check()
    expect({ forOne, queries: counted.reads() }).toEqual({ forOne: 2, queries: 4 })
    expect(running.every(({ signal }) => reasonOf(signal) === 'invalid_api_key')).toBe(true)
  })

  test('happens within 5 s, also after the database was away for an hour', async () => {
    const { addUser, withKey, keys, session, access, clock } = node()
    const ada = await addUser()
    const { key, call } = await withKey(ada.id)
    const running = access.follow(call.caller)
    let [away, looks] = [true, 0]
    const failures: unknown[] = []
    const check = async () => {
      looks++
      if (away) throw new Error('the database is away')
      await access.check()
    }
    const onError = (_: string, error: unknown) => void failures.push(error)
    const loop = startAccessLoop({ access: { ...access, check }, clock, onError })
    const look = async () => {
      const before = looks
      await eventually(() => clock.wakesWithin(2_500))
      clock.advance(2_500)
      await eventually(() => looks > before)
    }
    for (let n = 0; n < 20; n++) await look()
    await keys.revoke(await session(ada.id), key.id)
    away = false
    await look()
    await eventually(() => running.signal.aborted)
    await loop.stop()
    expect(failures).toHaveLength(1)
  })
})
