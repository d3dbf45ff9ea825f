import { describe, expect, test } from 'bun:test'
import { createKeyLookup, flushLastUsed, mintSecret } from '../../../src/accounts'
import { sha256Hex } from '../../../src/kernel/crypto'
import type { Reader } from '../../../src/kernel/store'
import { callOf, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const asOperator = () => callOf(operatorCaller())

/** The same store, counting the statements its reader runs. */
function counting() {
  let reads = 0
  const read = Object.create(store.read, {
    of: { value: (table: never) => store.read.of(table) },
    prepared: {
      get: () => {
        reads++
        return store.read.prepared
      },
    },
  }) as Reader
  return { store: { ...store, read }, reads: () => reads }
}

const flip = (token: string) => token.slice(0, -1) + (token.at(-1) === 'a' ? 'b' : 'a')

describe('a key as it was sent', () => {
  test('becomes its caller', async () => {
    const { addUser, withKey, lookup } = createWorld(store)
    const ada = await addUser()
    const { key } = await withKey(ada.id, {
      tier: 'pro',
      scopes: ['tools'],
      rpm_limit: 5,
      monthly_cap_cents: 9,
      allowed_origins: ['https://a.example'],
    })
    expect(await lookup.find(key.key)).toEqual({
      type: 'key',
      userId: ada.id,
      keyId: key.id,
      secretHash: sha256Hex(key.key),
      orgId: null,
      activeOrgId: null,
      scopes: ['tools'],
      tier: 'pro',
      rpmLimit: 5,
      tpmLimit: null,
      dailyCapCents: null,
      monthlyCapCents: 9,
      allowedOrigins: ['https://a.example'],
      hasBrandSoul: false,
      guardrailPolicyId: null,
      bindings: '',
    })
  })

  test('is read once and then known at once', async () => {
    const world = createWorld(store)
    const { key } = await world.withKey((await world.addUser()).id)
    const counted = counting()
    const lookup = createKeyLookup({ ...world, store: counted.store })
    await lookup.find(key.key)
    const after = counted.reads()
    expect(lookup.find(key.key)).not.toBeInstanceOf(Promise)
    expect([after > 0, counted.reads() - after]).toEqual([true, 0])
  })

  test('never reaches the database when it cannot be ours (A10)', async () => {
    const world = createWorld(store)
    const { key } = await world.withKey((await world.addUser()).id)
    const counted = counting()
    const lookup = createKeyLookup({ ...world, store: counted.store })
    for (const bad of [
      flip(key.key),
      key.key.toLowerCase(),
      `${key.key}x`,
      'svc_sk_live_',
      key.prefix,
      '',
      mintSecret('svc_ds_').token,
    ]) {
      expect(lookup.find(bad)).toBeNull()
    }
    expect(counted.reads()).toBe(0)
  })

  test('of the right form that nobody has is no one', async () => {
    const { lookup } = createWorld(store)
    expect(await lookup.find(mintSecret('svc_sk_live_').token)).toBeNull()
  })

  test('ends at its end, known or not', async () => {
    const { addUser, withKey, lookup, clock } = createWorld(store)
    const { key } = await withKey((await addUser()).id, { expires_at: '2026-01-01T00:01:00Z' })
    clock.advance(59_999)
    expect(await lookup.find(key.key)).toMatchObject({ keyId: key.id })
    clock.advance(1)
    expect(await lookup.find(key.key)).toBeNull()
    lookup.forgetAll()
    expect(await lookup.find(key.key)).toBeNull()
  })
})

describe('a change is in force at once (I26)', () => {
  test('no call that begins after a revocation is answered gets through', async () => {
    const { addUser, withKey, lookup, keys } = createWorld(store)
    const { key, call } = await withKey((await addUser()).id)
    let acknowledged = false
    let late = 0
    let served = 0
    const hammer = async () => {
      for (let n = 0; n < 500; n++) {
        const begunAfter = acknowledged
        const caller = await lookup.find(key.key)
        if (caller && begunAfter) late++
        if (caller) served++
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const revoking = new Promise((resolve) => setImmediate(resolve))
      .then(() => keys.revoke(call, key.id))
      .then(() => {
        acknowledged = true
      })
    await Promise.all([...Array.from({ length: 20 }, hammer), revoking])
    expect({ late, some: served > 0, after: await lookup.find(key.key) }).toEqual({ late: 0, some: true, after: null })
  })

  test('a read that a revocation overtook is not remembered', async () => {
    const world = createWorld(store)
    const { key, call } = await world.withKey((await world.addUser()).id)
    const held = Promise.withResolvers<void>()
    const orgs = {
      ...world.orgs,
      accessOf: async (...args: Parameters<typeof world.orgs.accessOf>) => {
        const access = await world.orgs.accessOf(...args)
        await held.promise
        return access
      },
    }
    const lookup = createKeyLookup({ ...world, orgs })
    const early = lookup.find(key.key)
    await world.keys.revoke(call, key.id)
    lookup.forgetAll()
    held.resolve()
    await early
    expect(await lookup.find(key.key)).toBeNull()
  })

  test('so are scopes, the active org, a suspended org and a disabled account', async () => {
    const { addUser, addOrg, withKey, session, lookup, keys, orgs } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id)
    const [mine, ours] = [await withKey(ada.id), await withKey(ada.id, { orgId: acme.id })]
    await keys.update(await session(ada.id), mine.key.id, { scopes: ['tools'] })
    expect(await lookup.find(mine.key.key)).toMatchObject({ scopes: ['tools'], activeOrgId: null })
    await orgs.activate(await session(ada.id), acme.id)
    expect(await lookup.find(mine.key.key)).toMatchObject({ orgId: null, activeOrgId: acme.id })
    await orgs.setOrgSuspended(asOperator(), acme.id, true)
    expect(await lookup.find(ours.key.key)).toBeNull()
    expect(await lookup.find(mine.key.key)).toMatchObject({ activeOrgId: null })
    await orgs.setOrgSuspended(asOperator(), acme.id, false)
    expect(await lookup.find(ours.key.key)).toMatchObject({ orgId: acme.id, activeOrgId: acme.id })
    await orgs.setUserDisabled(asOperator(), ada.id, true)
    expect([await lookup.find(mine.key.key), await lookup.find(ours.key.key)]).toEqual([null, null])
  })

  test('on Postgres what another node changed is seen within a second', async () => {
    const world = createWorld(store)
    const { key, call } = await world.withKey((await world.addUser()).id)
    const otherNode = createKeyLookup({ ...world, store: { ...store, dialect: 'postgres' } })
    await otherNode.find(key.key)
    await world.keys.revoke(call, key.id)
    expect(await otherNode.find(key.key)).toMatchObject({ keyId: key.id })
    world.clock.advance(1_000)
    expect(await otherNode.find(key.key)).toBeNull()
  })
})

describe('when a key was last used', () => {
  test('is written behind, at most once a minute', async () => {
    const { addUser, withKey, keys, lookup, lastUsed, clock } = createWorld(store)
    const { key, call } = await withKey((await addUser()).id)
    const readBack = async () => {
      await flushLastUsed({ store, sightings: lastUsed })
      return (await keys.get(call, key.id)).last_used_at
    }
    expect((await keys.get(call, key.id)).last_used_at).toBeNull()
    expect(await readBack()).toBe('2026-01-01T00:00:00.000Z')
    clock.advance(59_000)
    await lookup.find(key.key)
    expect(await readBack()).toBe('2026-01-01T00:00:00.000Z')
    clock.advance(2_000)
    await lookup.find(key.key)
    expect(await readBack()).toBe('2026-01-01T00:01:01.000Z')
  })
})
