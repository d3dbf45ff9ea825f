import { describe, expect, test } from 'bun:test'
import type { KeyCaller } from '../../../src/kernel/caller'
import { KeyId, type UserId } from '../../../src/kernel/ids'
import { createEffective } from '../../../src/routing'
import { routingPreference } from '../../../src/routing/resource'
import { PreferenceId } from '../../../src/routing/schema'
import { keyCaller } from '../../support/callers'
import { agedChanges } from '../../support/changes'
import { fakeClock } from '../../support/clock'
import { openTestStore } from '../../support/store'

const { rows } = routingPreference
const store = await openTestStore()
const clock = fakeClock()

function setUp(changes = store.changes) {
  const caller = keyCaller({ userId: crypto.randomUUID() as UserId, keyId: KeyId.create() }) as KeyCaller
  const held = { routing_preference_id: null as string | null, routing_rules: null, routing_floors: null }
  let looked = 0
  const bindings = {
    of: async () => {
      looked++
      return { ...held, guardrail_policy_id: null }
    },
  }
  const effective = createEffective({ store: { ...store, changes }, clock, bindings })
  return { caller, held, effective, looked: () => looked }
}

const preference = (caller: KeyCaller, more: object = {}) => ({
  id: PreferenceId.create(),
  owner: `user:${caller.userId}` as const,
  user_id: caller.userId,
  org_id: null,
  name: 'Mine',
  description: null,
  examples: [],
  floors: {},
  is_default: false,
  rules: [{ pattern: 'zebra', target_mode: 'code', target_engine: null, confidence: 0.9, description: null }],
  created_at: 1,
  updated_at: 1,
  ...more,
})

describe('what routes a caller', () => {
  test('is known at once after the first time, also where nothing is configured', async () => {
    const { caller, effective, looked } = setUp()
    const first = await effective.of(caller)
    expect(first).toMatchObject({ rules: [], fingerprint: '', preferenceId: null })
    expect(effective.of(caller)).toBe(first)
    expect(looked()).toBe(1)
  })

  test('is read again after a key was bound', async () => {
    const { caller, effective, held } = setUp()
    const row = preference(caller)
    await store.write((tx) => rows.insert(tx, row))
    await effective.of(caller)
    held.routing_preference_id = row.id
    effective.forgetKey(caller.keyId)
    expect((await effective.of(caller)).preferenceId).toBe(row.id)
  })

  test('is read again after a default came, changed and went', async () => {
    const { caller, effective } = setUp()
    const row = preference(caller, { is_default: true })
    const before = await effective.of(caller)
    await store.write((tx) => rows.insert(tx, row))
    effective.forgetPreference(row.id, row.owner)
    const withDefault = await effective.of(caller)
    expect(withDefault.preferenceId).toBe(row.id)
    await store.write((tx) => rows.update(tx, [row.owner], row.id, { floors: { code: 0.6 } }))
    effective.forgetPreference(row.id, row.owner)
    const changed = await effective.of(caller)
    expect(new Set([before, withDefault, changed].map(({ fingerprint }) => fingerprint)).size).toBe(3)
    await store.write((tx) => rows.remove(tx, [row.owner], row.id))
    effective.forgetPreference(row.id, row.owner)
    expect((await effective.of(caller)).fingerprint).toBe('')
  })

  test('is nothing when the preference a key is bound to is gone', async () => {
    const { caller, effective, held } = setUp()
    held.routing_preference_id = PreferenceId.create()
    expect((await effective.of(caller)).preferenceId).toBeNull()
  })

  test('is read again after a second where another node may have changed it (I26)', async () => {
    const { caller, effective, looked } = setUp(agedChanges(clock))
    await effective.of(caller)
    clock.advance(1_001)
    await effective.of(caller)
    expect(looked()).toBe(2)
  })
})
