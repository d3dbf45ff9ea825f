import { describe, expect, test } from 'bun:test'
import { keyRepository } from '../../../src/accounts/keys/repository'
import { iso } from '../../../src/kernel/clock'
import { OrgId } from '../../../src/kernel/ids'
import { callOf, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const DAY_S = 86_400

async function household() {
  const world = createWorld(store)
  const ada = await world.addUser()
  const mine = await world.withKey(ada.id)
  const opens = async (secret: string) => (await world.lookup.find(secret))?.keyId === mine.key.id
  return { ...world, ada, mine, id: mine.key.id, call: await world.session(ada.id), opens }
}

test('a key is found for a person with more organizations than a condition may name', async () => {
  const { id, ada } = await household()
  const orgIds = Array.from({ length: 5_000 }, () => OrgId.create())
  expect((await keyRepository.find(store.read, { userId: ada.id, orgIds }, id))?.id).toBe(id)
  expect(await keyRepository.find(store.read, { userId: null, orgIds }, id)).toBeUndefined()
  expect((await keyRepository.list(store.read, { userId: ada.id, orgIds }, { limit: 5 })).items).toHaveLength(1)
})

describe('POST /keys/{id}/rotate', () => {
  test('hands over a new secret once; both work for the grace period and the new one after it', async () => {
    const { keys, clock, mine, id, call, opens } = await household()
    const rotated = await keys.rotate(call, id, {})
    expect(rotated).toMatchObject({ id, status: 'rotating', previous_key_expires_at: iso(clock.now() + DAY_S * 1_000) })
    expect(rotated.key).toStartWith(rotated.prefix)
    expect(rotated.prefix).not.toBe(mine.key.prefix)
    expect(await keys.get(call, id)).not.toHaveProperty('key')
    expect({ old: await opens(mine.key.key), rotated: await opens(rotated.key) }).toEqual({ old: true, rotated: true })
    clock.advance(DAY_S * 1_000 - 1)
    expect(await opens(mine.key.key)).toBe(true)
    expect((await keys.get(call, id)).status).toBe('rotating')
    clock.advance(1)
    expect({ old: await opens(mine.key.key), rotated: await opens(rotated.key) }).toEqual({ old: false, rotated: true })
    expect(await keys.get(call, id)).toMatchObject({ status: 'active', prefix: rotated.prefix })
  })

  test('with a grace of 0 ends the old secret before it answers', async () => {
    const { keys, clock, mine, id, call, opens } = await household()
    expect(await opens(mine.key.key)).toBe(true)
    const rotated = await keys.rotate(call, id, { grace_period_seconds: 0 })
    expect(rotated).toMatchObject({ status: 'active', previous_key_expires_at: iso(clock.now()) })
    expect({ old: await opens(mine.key.key), rotated: await opens(rotated.key) }).toEqual({ old: false, rotated: true })
  })

  test('a second time ends the first secret no later than the second one', async () => {
    const { keys, clock, mine, id, call, opens } = await household()
    const second = await keys.rotate(call, id, { grace_period_seconds: 600 })
    const third = await keys.rotate(call, id, { grace_period_seconds: 60 })
    expect(await Promise.all([mine.key.key, second.key, third.key].map(opens))).toEqual([true, true, true])
    clock.advance(60_000)
    expect(await Promise.all([mine.key.key, second.key, third.key].map(opens))).toEqual([false, false, true])
    const fourth = await keys.rotate(call, id, { grace_period_seconds: 600 })
    await keys.rotate(call, id, { grace_period_seconds: 0 })
    expect(await Promise.all([third.key, fourth.key].map(opens))).toEqual([false, false])
  })

  test('a longer grace does not bring back what was to end sooner', async () => {
    const { keys, clock, mine, id, call, opens } = await household()
    await keys.rotate(call, id, { grace_period_seconds: 10 })
    await keys.rotate(call, id, { grace_period_seconds: 1_000 })
    clock.advance(10_000)
    expect(await opens(mine.key.key)).toBe(false)
  })

  test('keeps everything else: id, label, scopes, limits, caps, tier', async () => {
    const { keys, addUser, withKey, session } = createWorld(store)
    const ada = await addUser()
    const { key } = await withKey(ada.id, {
      test: true,
      tier: 'pro',
      scopes: ['tools'],
      rpm_limit: 7,
      daily_cap_cents: 9,
    })
    const call = await session(ada.id)
    const before = await keys.get(call, key.id)
    const { key: _, previous_key_expires_at: __, ...after } = await keys.rotate(call, key.id, {})
    expect(after).toEqual({ ...before, status: 'rotating', prefix: after.prefix })
    expect(after.prefix).toStartWith('svc_sk_test_')
  })

  test('ends with the key', async () => {
    const { keys, clock, mine, id, call, opens } = await household()
    await keys.update(call, id, { expires_at: iso(clock.now() + 5_000) })
    const rotated = await keys.rotate(call, id, {})
    expect(rotated.previous_key_expires_at).toBe(iso(clock.now() + 5_000))
    clock.advance(5_000)
    expect(await opens(mine.key.key)).toBe(false)
    expect(await opens(rotated.key)).toBe(false)
  })

  test('a revocation ends both secrets, remembered or not', async () => {
    const { keys, mine, id, call, opens } = await household()
    const rotated = await keys.rotate(call, id, {})
    expect(await Promise.all([mine.key.key, rotated.key].map(opens))).toEqual([true, true])
    await keys.revoke(call, id)
    expect(await Promise.all([mine.key.key, rotated.key].map(opens))).toEqual([false, false])
    expect((await keys.get(call, id)).status).toBe('revoked')
  })

  test('a change is met by both secrets at once', async () => {
    const { keys, lookup, mine, id, call } = await household()
    const rotated = await keys.rotate(call, id, {})
    for (const secret of [mine.key.key, rotated.key]) await lookup.find(secret)
    await keys.update(call, id, { scopes: ['tools'] })
    for (const secret of [mine.key.key, rotated.key]) {
      expect(await lookup.find(secret)).toMatchObject({ scopes: ['tools'] })
    }
  })

  test('stands on the record with its grace and without the secret, and is no event', async () => {
    const { keys, audit, heard, ada, id, call } = await household()
    const rotated = await keys.rotate(call, id, { grace_period_seconds: 5 })
    const { items } = await audit.list(store.read, `user:${ada.id}`, { limit: 1 })
    expect(items).toMatchObject([{ action: 'key.rotated', entityType: 'api_key', entityId: id }])
    expect(items[0]!.inputSummary).toMatchObject({ metadata: { grace_period_seconds: 5 } })
    expect(JSON.stringify(items)).not.toContain(rotated.key)
    expect(heard.map(({ type }) => type)).toEqual(['key.created'])
  })
})

describe('a key that cannot be rotated', () => {
  test('is a revoked one', async () => {
    const { keys, id, call } = await household()
    await keys.revoke(call, id)
    expect(keys.rotate(call, id, {})).rejects.toMatchObject({ kind: 'conflict', code: 'conflict' })
  })

  test('is one past its end, until it is given a later one', async () => {
    const { keys, clock, id, call, opens } = await household()
    await keys.update(call, id, { expires_at: iso(clock.now() + 1_000) })
    clock.advance(1_000)
    expect(keys.rotate(call, id, {})).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('expired'),
    })
    await keys.update(call, id, { expires_at: null })
    expect(await opens((await keys.rotate(call, id, {})).key)).toBe(true)
  })

  test('is one that may do more than the key that asks', async () => {
    const { keys, ada, id, withKey, opens, mine } = await household()
    const { call } = await withKey(ada.id, { scopes: ['billing'] })
    expect(keys.rotate(call, id, {})).rejects.toMatchObject({ kind: 'forbidden', code: 'missing_scope' })
    expect(await opens(mine.key.key)).toBe(true)
    const own = await keys.rotate(call, call.caller.type === 'key' ? call.caller.keyId : '', {})
    expect(own.scopes).toEqual(['billing'])
  })

  test("is a colleague's: its new secret would act as them, with their role", async () => {
    const { keys, orgs, ada, addUser, addOrg, withKey, session, store } = await household()
    const [acme, cleo] = [await addOrg(ada.id), await addUser('cleo')]
    const { key, call } = await withKey(ada.id, { orgId: acme.id })
    const joining = { orgId: acme.id, userId: cleo.id, role: 'admin', invitedBy: ada.id } as const
    await store.write((tx) => orgs.members.join(tx, call, joining))
    const theirs = await session(cleo.id)
    expect(await keys.get(theirs, key.id)).toMatchObject({ id: key.id })
    expect(keys.rotate(theirs, key.id, {})).rejects.toMatchObject({ kind: 'forbidden', code: 'forbidden' })
    expect(await keys.rotate(call, key.id, {})).toMatchObject({ id: key.id, status: 'rotating' })
    expect(await keys.revoke(theirs, key.id)).toMatchObject({ status: 'revoked', id: key.id })
  })
})

describe('the state a key is shown in', () => {
  test('past its end is revoked without a revocation, and active again with a later end', async () => {
    const { keys, clock, id, call } = await household()
    await keys.update(call, id, { expires_at: iso(clock.now() + 1_000) })
    expect(await keys.get(call, id)).toMatchObject({ status: 'active' })
    clock.advance(1_000)
    expect(await keys.get(call, id)).toMatchObject({ status: 'revoked', revoked_at: null })
    expect((await keys.list(call, { limit: 5 })).items[0]).toMatchObject({ status: 'revoked' })
    expect(await keys.update(call, id, { expires_at: null })).toMatchObject({ status: 'active' })
  })

  test('is not among the live ones of an operator', async () => {
    const { keys, clock, ada, id, call } = await household()
    const asOperator = callOf(operatorCaller())
    await keys.update(call, id, { expires_at: iso(clock.now() + 1_000) })
    const live = async () => (await keys.list(asOperator, { limit: 5, user: ada.id, live: true })).items.length
    expect(await live()).toBe(1)
    clock.advance(1_000)
    expect(await live()).toBe(0)
  })

  test('by its secret: active, ended, or unknown', async () => {
    const { keys, id, call, mine } = await household()
    const asOperator = callOf(operatorCaller())
    const rotated = await keys.rotate(call, id, { grace_period_seconds: 0 })
    expect((await keys.check(asOperator, rotated.key)).key).toMatchObject({ id, status: 'active' })
    expect((await keys.check(asOperator, mine.key.key)).key).toBeNull()
    expect((await keys.check(asOperator, 'svc_sk_live_x')).key).toBeNull()
    await keys.revoke(call, id)
    expect((await keys.check(asOperator, rotated.key)).key).toMatchObject({ id, status: 'revoked' })
  })
})
