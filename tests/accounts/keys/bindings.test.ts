import { describe, expect, test } from 'bun:test'
import { iso } from '../../../src/kernel/clock'
import { callOf, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()

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
const NOTHING = {
  routing_preference_id: null,
  routing_rules: null,
  routing_floors: null,
  guardrail_policy_id: null,
}

describe('what other rooms attach to a key', () => {
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
    expect([await of(two), await of(crypto.randomUUID())]).toEqual([NOTHING, null])
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
    expect([seen[0], await known()]).toEqual(['', ''])
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
    expect([requested, await of(one)]).toEqual([0, NOTHING])
  })
})

describe('an operator who names a key', () => {
  const asOperator = callOf(operatorCaller())

  test('by id, prefix or name finds it, and a working one before others of its name', async () => {
    const { keys, call, clock } = await household()
    const name = crypto.randomUUID().slice(0, 8)
    const old = await keys.create(call, { name })
    await keys.revoke(call, old.id)
    for (const ref of [old.id, old.prefix, name]) {
      expect(await keys.operator.get(asOperator, ref)).toMatchObject({ id: old.id, status: 'revoked' })
    }
    clock.advance(1_000)
    const fresh = await keys.create(call, { name })
    expect((await keys.operator.get(asOperator, name)).id).toBe(fresh.id)
    for (const ref of [crypto.randomUUID(), 'svc_sk_live_none', 'nobody']) {
      await expect(keys.operator.get(asOperator, ref)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  test('by a name of several is told their ids, ten at most', async () => {
    const { keys, call } = await household()
    const name = crypto.randomUUID().slice(0, 8)
    const ids: string[] = []
    const textOf = async () => {
      const refused = await keys.operator.get(asOperator, name).catch((error: Error) => error)
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
