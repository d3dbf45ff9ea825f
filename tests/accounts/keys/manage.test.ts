import { describe, expect, test } from 'bun:test'
import type { KeyPatch } from '../../../src/accounts/keys/schema'
import { callOf } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()

describe('GET /keys', () => {
  test('lists newest first, a page at a time, revoked ones too', async () => {
    const { keys, clock, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    for (const name of ['a', 'b', 'c']) {
      clock.advance(1_000)
      await keys.create(ada, { name })
    }
    const first = await keys.list(ada, { limit: 2 })
    expect(first.items.map((key) => key.name)).toEqual(['c', 'b'])
    await keys.revoke(ada, first.items[0]!.id)
    const second = await keys.list(ada, { limit: 2, cursor: first.next! })
    expect(second).toMatchObject({ items: [{ name: 'a' }], next: null })
    expect((await keys.list(ada, { limit: 1 })).items).toMatchObject([{ name: 'c', status: 'revoked' }])
  })

  test('passes over keys of the same instant exactly once', async () => {
    const { keys, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    for (let n = 0; n < 5; n++) await keys.create(ada, {})
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await keys.list(ada, { limit: 2, ...(cursor ? { cursor } : {}) })
      seen.push(...page.items.map((key) => key.id))
      if (!page.next) break
      cursor = page.next
    }
    expect([seen.length, new Set(seen).size]).toEqual([5, 5])
  })

  test('shows what each key has cost, in cents', async () => {
    const { keys, spent, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const { id } = await keys.create(ada, {})
    spent.set(id, { today: { spent: 1_500_000 }, month: { spent: 20_000_000 } })
    expect(await keys.get(ada, id)).toMatchObject({ spent_today_cents: 1.5, spent_month_cents: 20 })
  })
})

describe("someone else's key", () => {
  test('answers like an id that does not exist and like one that is none, to every verb, and stays as it is', async () => {
    const { keys, addUser, withKey } = createWorld(store)
    const victim = await withKey((await addUser('ada')).id)
    const { call } = await withKey((await addUser('eve')).id)
    for (const id of [victim.key.id, crypto.randomUUID(), '../etc', `${victim.key.id}%00`]) {
      const answers = await Promise.all([
        keys.get(call, id).catch((error: Error) => error),
        keys.update(call, id, { name: 'mine' }).catch((error: Error) => error),
        keys.revoke(call, id).catch((error: Error) => error),
      ])
      for (const answer of answers) {
        expect(answer).toMatchObject({ kind: 'missing', code: 'not_found', message: 'No API key with this id.' })
      }
    }
    expect(await keys.get(victim.call, victim.key.id)).toMatchObject({ name: 'API Key', status: 'active' })
    expect((await keys.list(call, { limit: 50 })).items.map((key) => key.id)).not.toContain(victim.key.id)
  })
})

describe("an org's keys", () => {
  test('are managed by those who may, and do not exist for a member who may not', async () => {
    const { keys, orgs, addUser, addOrg, session, withKey } = createWorld(store)
    const [ada, bob] = [await addUser('ada'), await addUser('bob')]
    const acme = await addOrg(ada.id)
    const { key, call } = await withKey(ada.id, { orgId: acme.id })
    const personal = await keys.create(await session(ada.id), {})
    expect((await keys.list(await session(ada.id), { limit: 50 })).items).toHaveLength(2)
    expect((await keys.list(call, { limit: 50 })).items).toMatchObject([{ id: key.id }])
    expect(keys.get(call, personal.id)).rejects.toMatchObject({ code: 'not_found' })
    expect(keys.get(await session(bob.id), key.id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await orgs.roleOf(store.read, acme.id, bob.id)).toBeNull()
  })

  test('cannot manage keys once their maker may not', async () => {
    const { keys, addUser, addOrg, withKey } = createWorld(store)
    const acme = await addOrg((await addUser('ada')).id)
    const { call } = await withKey((await addUser('bob')).id, { orgId: acme.id })
    expect(keys.list(call, { limit: 50 })).rejects.toMatchObject({ code: 'forbidden' })
    expect(keys.create(call, {})).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('PUT /keys/{id}', () => {
  test('changes what is named, clears with null, and leaves the rest', async () => {
    const { keys, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const made = await keys.create(ada, { rpm_limit: 10, daily_cap_cents: 500 })
    const soul = { persona: 'A calm librarian', knowledge: ['Open 9 to 5'] }
    const changed = await keys.update(ada, made.id, {
      name: 'new',
      rpm_limit: null,
      brand_soul: soul,
      expires_at: '2027-01-01T00:00:00Z',
    })
    expect(changed).toMatchObject({
      name: 'new',
      rpm_limit: null,
      daily_cap_cents: 500,
      brand_soul: { enabled: true, persona: 'A calm librarian', tone: '', knowledge: ['Open 9 to 5'], constraints: [] },
      expires_at: '2027-01-01T00:00:00.000Z',
    })
    expect(await keys.get(ada, made.id)).toEqual(changed)
    expect(await keys.update(ada, made.id, { brand_soul: null, expires_at: null })).toMatchObject({
      brand_soul: null,
      expires_at: null,
    })
  })

  test('ignores members that nobody may set', async () => {
    const { keys, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const { key: _, ...made } = await keys.create(ada, {})
    const greedy = {
      tier: 'enterprise',
      id: crypto.randomUUID(),
      user_id: 'x',
      hash: 'x',
      revoked_at: null,
      org_id: crypto.randomUUID(),
    }
    expect(await keys.update(ada, made.id, greedy as KeyPatch)).toEqual(made)
  })

  test('records the names of what changed and never the values', async () => {
    const { keys, audit, addUser, session } = createWorld(store)
    const user = await addUser()
    const ada = await session(user.id)
    const { id } = await keys.create(ada, {})
    await keys.update(ada, id, { name: 'secret-project' })
    const [row] = (await audit.list(store.read, `user:${user.id}`, { limit: 1 })).items
    expect(row).toMatchObject({ action: 'key.updated', inputSummary: { fields: ['name'] } })
    expect(JSON.stringify(row)).not.toContain('secret-project')
  })

  const refusals: { why: string; patch: KeyPatch; code: string }[] = [
    { why: 'a limit above the tier', patch: { rpm_limit: 61 }, code: 'validation_error' },
    { why: 'a scope the caller lacks', patch: { scopes: ['billing', 'connectors'] }, code: 'missing_scope' },
    { why: 'an end that is over', patch: { expires_at: '2020-01-01T00:00:00Z' }, code: 'validation_error' },
    { why: 'an origin that is none', patch: { allowed_origins: ['app.example'] }, code: 'validation_error' },
  ]
  test.each(refusals)('refuses $why, and changes nothing', async ({ patch, code }) => {
    const { keys, addUser, withKey } = createWorld(store)
    const { key, call } = await withKey((await addUser()).id, { scopes: ['billing'] })
    const before = await keys.get(call, key.id)
    expect(keys.update(call, key.id, { name: 'changed', ...patch })).rejects.toMatchObject({ code })
    expect(await keys.get(call, key.id)).toEqual(before)
  })

  test('lets a key keep scopes that it has and its editor lacks', async () => {
    const { keys, addUser, withKey } = createWorld(store)
    const ada = await addUser()
    const { call } = await withKey(ada.id, { scopes: ['billing'] })
    const other = await withKey(ada.id, { scopes: ['completions', 'tools'] })
    expect(await keys.update(call, other.key.id, { scopes: ['completions', 'billing'] })).toMatchObject({
      scopes: ['completions', 'billing'],
    })
  })
})

describe('DELETE /keys/{id}', () => {
  test('revokes once, with one audit row and one event, and says so again', async () => {
    const { keys, heard, addUser, session, actions } = createWorld(store)
    const user = await addUser()
    const ada = await session(user.id)
    const { id } = await keys.create(ada, {})
    expect(await keys.revoke(ada, id)).toEqual({ revoked: true, id })
    expect(await keys.revoke(ada, id)).toEqual({ revoked: true, id })
    expect(await keys.get(ada, id)).toMatchObject({ status: 'revoked', revoked_at: '2026-01-01T00:00:00.000Z' })
    expect(await actions(user.id)).toEqual(['key.created', 'key.revoked'])
    expect(heard.map((event) => event.type)).toEqual(['key.created', 'key.revoked'])
  })

  test('counts once when it is asked twice at the same moment', async () => {
    const { keys, heard, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const { id } = await keys.create(ada, {})
    await Promise.all([keys.revoke(ada, id), keys.revoke(ada, id), keys.revoke(ada, id)])
    expect(heard.filter((event) => event.type === 'key.revoked')).toHaveLength(1)
  })

  test('lets a key end itself', async () => {
    const { keys, lookup, addUser, withKey } = createWorld(store)
    const { key, call } = await withKey((await addUser()).id)
    await keys.revoke(callOf(call.caller), key.id)
    expect(await lookup.find(key.key)).toBeNull()
  })
})
