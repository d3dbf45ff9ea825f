import { describe, expect, test } from 'bun:test'
import { readBrandSoul } from '../../../src/accounts/keys/rules'
import type { KeyPatch } from '../../../src/accounts/keys/schema'
import { iso } from '../../../src/kernel/clock'
import { callOf, operatorCaller } from '../../support/callers'
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
    expect({ seen: seen.length, distinct: new Set(seen).size }).toEqual({ seen: 5, distinct: 5 })
  })

  test('shows what each key has cost, in cents', async () => {
    const { keys, spent, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const { id } = await keys.create(ada, {})
    spent.set(id, { today: { spent: 1_500_000 }, month: { spent: 20_000_000 } })
    expect(await keys.get(ada, id)).toMatchObject({ spent_today_cents: 1.5, spent_month_cents: 20 })
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
    expect(await keys.revoke(ada, id)).toMatchObject({ status: 'revoked', id })
    expect(await keys.revoke(ada, id)).toMatchObject({ status: 'revoked', id })
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

async function household() {
  const world = createWorld(store)
  const ada = await world.addUser()
  const { keys } = world
  const made = async (): Promise<string> => (await world.withKey(ada.id)).key.id
  const [one, two, three] = [await made(), await made(), await made()]
  const call = await world.session(ada.id)
  const bind = (id: string, columns: Parameters<typeof keys.bindings.set>[3]) =>
    store.write((tx) => keys.bindings.set(tx, call, id, columns))
  const of = async (id: string) => keys.bindings.of(store.read, id as never)
  return { ...world, ada, call, one, two, three, bind, of, bindings: keys.bindings }
}

const NOTHING = { routing_preference_id: null, routing_rules: null, routing_floors: null, guardrail_policy_id: null }

describe('what other modules attach to a key', () => {
  test('is shown with it, found with it, and recorded by name', async () => {
    const { ada, one, two, bind, of, audit } = await household()
    const policy = crypto.randomUUID()
    const requests: object[] = []
    const shown = await bind(one, (key) => {
      requests.push(key)
      return { guardrail_policy_id: policy, routing_floors: { think: 0.7 } }
    })
    expect(requests).toEqual([{ id: one, userId: ada.id, orgId: null }])
    expect(shown).toMatchObject({ id: one, guardrail_policy_id: policy, confidence_floor_overrides: { think: 0.7 } })
    expect(await of(one)).toEqual({ ...NOTHING, guardrail_policy_id: policy, routing_floors: { think: 0.7 } })
    expect(await of(two)).toEqual(NOTHING)
    expect(await of(crypto.randomUUID())).toBe(null)
    const [row] = (await audit.list(store.read, `user:${ada.id}`, { limit: 1 })).items
    expect(row).toMatchObject({
      ...{ action: 'key.updated', entityType: 'api_key', entityId: one },
      inputSummary: { fields: ['guardrail_policy_id', 'routing_floors'] },
    })
  })

  test('tells answers of different bindings apart, and is met by the next request', async () => {
    const { withKey, ada, lookup, bind } = await household()
    const { key } = await withKey(ada.id)
    const known = async () => (await lookup.find(key.key))!.bindings
    const seen = [await known()]
    for (const columns of [
      { guardrail_policy_id: crypto.randomUUID() },
      { routing_preference_id: crypto.randomUUID() },
      { routing_rules: [] },
      { routing_floors: { think: 0.7 } },
      { routing_floors: { think: 0.8 } },
    ]) {
      await bind(key.id, () => ({ ...NOTHING, ...columns }))
      seen.push(await known())
    }
    expect(new Set(seen).size).toBe(6)
    await bind(key.id, () => NOTHING)
    expect({ seen: seen[0], known: await known() }).toEqual({ seen: '', known: '' })
  })

  test('is counted by what is attached, in keys that work', async () => {
    const { one, two, three, bind, bindings, keys, call, clock } = await household()
    const [policy, other, none] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    for (const id of [one, two]) await bind(id, () => ({ guardrail_policy_id: policy, routing_preference_id: other }))
    await bind(three, () => ({ guardrail_policy_id: other }))
    const counts = (column: 'guardrail_policy_id' | 'routing_preference_id', ids: string[]) =>
      bindings.counts(store.read, column, ids)
    expect(await counts('guardrail_policy_id', [policy, other, none])).toEqual(
      new Map([
        [policy, 2],
        [other, 1],
      ]),
    )
    expect(await counts('guardrail_policy_id', [policy])).toEqual(new Map([[policy, 2]]))
    expect(await counts('routing_preference_id', [policy, other])).toEqual(new Map([[other, 2]]))
    expect(await counts('guardrail_policy_id', [])).toEqual(new Map())
    await keys.revoke(call, one)
    await keys.update(call, two, { expires_at: iso(clock.now() + 1_000) })
    expect(await counts('guardrail_policy_id', [policy])).toEqual(new Map([[policy, 1]]))
    clock.advance(1_000)
    expect(await counts('guardrail_policy_id', [policy])).toEqual(new Map())
  })

  test('is taken off every key that holds it, and off no other, on the record', async () => {
    const { ada, call, one, two, three, bind, of, bindings, audit } = await household()
    const [policy, other] = [crypto.randomUUID(), crypto.randomUUID()]
    for (const id of [one, two]) await bind(id, () => ({ guardrail_policy_id: policy, routing_preference_id: policy }))
    await bind(three, () => ({ guardrail_policy_id: other }))
    const cleared = await store.write((tx) => bindings.clear(tx, call, 'guardrail_policy_id', policy))
    expect(cleared.toSorted()).toEqual(([one, two] as typeof cleared).toSorted())
    for (const id of [one, two]) expect(await of(id)).toEqual({ ...NOTHING, routing_preference_id: policy })
    expect(await of(three)).toMatchObject({ guardrail_policy_id: other })
    const rows = (await audit.list(store.read, `user:${ada.id}`, { limit: 2 })).items
    expect(rows.map(({ entityId }) => entityId).toSorted()).toEqual([one, two].toSorted())
    for (const row of rows) expect(row).toMatchObject({ inputSummary: { fields: ['guardrail_policy_id'] } })
    expect(await store.write((tx) => bindings.clear(tx, call, 'guardrail_policy_id', policy))).toEqual([])
  })

  test('is nobody else’s to attach', async () => {
    const { one, bindings, addUser, withKey, of } = await household()
    const { call: eve } = await withKey((await addUser('eve')).id)
    let requested = 0
    const set = store.write((tx) => bindings.set(tx, eve, one, () => ({ guardrail_policy_id: `${++requested}` })))
    await expect(set).rejects.toMatchObject({ code: 'not_found' })
    await expect(bindings.reach(store.read, eve, one)).rejects.toMatchObject({ code: 'not_found' })
    expect({ requested, of: await of(one) }).toEqual({ requested: 0, of: NOTHING })
  })
})

describe('an operator who names a key', () => {
  const asOperator = callOf(operatorCaller())

  test('by id, prefix or name finds it, and a working one before others of its name', async () => {
    const { keys, call, clock, ada, withKey } = await household()
    const name = crypto.randomUUID().slice(0, 8)
    const old = (await withKey(ada.id, { name, tier: 'enterprise', rpm_limit: 4_000 })).key
    expect(await keys.update(asOperator, old.prefix, { rpm_limit: 9 })).toMatchObject({ rpm_limit: 9 })
    const revoked_at = iso(clock.now())
    for (const _ of ['first', 'again']) {
      const revoked = { id: old.id, status: 'revoked', revoked_at }
      expect(await keys.revoke(asOperator, old.id)).toMatchObject(revoked)
      clock.advance(1_000)
    }
    for (const ref of [old.id, old.prefix, name]) {
      expect(await keys.get(asOperator, ref)).toMatchObject({ id: old.id, status: 'revoked', tier: 'enterprise' })
    }
    const fresh = await keys.create(call, { name })
    expect((await keys.get(asOperator, name)).id).toBe(fresh.id)
    for (const ref of [crypto.randomUUID(), 'svc_sk_live_none', 'nobody']) {
      await expect(keys.get(asOperator, ref)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  test('by a name of several is told their ids, ten at most', async () => {
    const { keys, call } = await household()
    const name = crypto.randomUUID().slice(0, 8)
    const ids: string[] = []
    const textOf = async () => {
      const refused = await keys.get(asOperator, name).catch((error: Error) => error)
      expect(refused).toMatchObject({ code: 'validation_error' })
      return (refused as Error).message
    }
    for (let made = 0; made < 2; made++) ids.push((await keys.create(call, { name })).id)
    const two = await textOf()
    expect(two).toStartWith(`2 keys match "${name}": `)
    for (const id of ids) expect(two).toContain(id)
    for (let made = 2; made < 12; made++) ids.push((await keys.create(call, { name })).id)
    expect(await textOf()).toStartWith(`10 keys match`)
    for (const id of ids) await keys.revoke(call, id)
    expect(await textOf()).toStartWith(`10 keys match`)
  })
})

describe('a brand soul', () => {
  const facts = (characters: number) => ({ knowledge: ['x'.repeat(characters - 30)], persona: 'y'.repeat(10) })
  const more = { tone: 'z'.repeat(10), constraints: ['w'.repeat(10)] }

  test('has 40,000 characters in all at most, as they are paid for with every prompt', () => {
    expect(readBrandSoul({ ...facts(40_000), ...more })).toMatchObject({ enabled: true, persona: 'y'.repeat(10) })
    expect(() => readBrandSoul({ ...facts(40_001), ...more })).toThrow(
      '"brand_soul" has 40001 characters; at most 40000 are allowed in all.',
    )
  })

  test('has nothing that it was not given', () => {
    expect(readBrandSoul({})).toEqual({ enabled: true, persona: '', tone: '', knowledge: [], constraints: [] })
    const odd = { enabled: false, colour: 'red' }
    expect(readBrandSoul(odd)).toEqual({ enabled: false, persona: '', tone: '', knowledge: [], constraints: [] })
  })

  test('is of its key alone, and of none once it is disabled', async () => {
    const { keys, addUser, withKey, lookup } = createWorld(store)
    const ada = await addUser()
    const soul = { enabled: true, persona: 'A librarian', tone: '', knowledge: [], constraints: [] }
    const [souled, plain] = [await withKey(ada.id, { brand_soul: soul }), await withKey(ada.id)]
    const soulOf = (id: typeof plain.key.id) => keys.brandSoulOf(store.read, id)
    expect(await soulOf(souled.key.id)).toEqual(soul)
    expect(await soulOf(plain.key.id)).toBe(null)
    const flags = async () =>
      Promise.all([souled, plain].map(async ({ key }) => (await lookup.find(key.key))!.hasBrandSoul))
    expect(await flags()).toEqual([true, false])
    await keys.update(souled.call, souled.key.id, { brand_soul: { ...soul, enabled: false } })
    expect({ soul: await soulOf(souled.key.id), flags: await flags() }).toEqual({ soul: null, flags: [false, false] })
  })
})
