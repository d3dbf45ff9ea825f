import { describe, expect, test } from 'bun:test'
import { KeyId } from '../../src/kernel/ids'
import { encodeCursor } from '../../src/kernel/page'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { clock, someone } = createWorld(store)
const DAY = 86_400_000

/** Five events, a day apart from 1 January on, that differ in what can be filtered by; the last two are of calls. */
const ada = someone()
const otherKey = { ...ada.caller, keyId: KeyId.create() }
await ada.act({ action: 'key.created', entityType: 'api_key', entityId: 'k1', input: {}, output: { status: 201 } })
clock.advance(DAY)
await ada.act({ action: 'key.revoked', entityType: 'api_key', entityId: 'k1', input: {}, output: { status: 200 } })
clock.advance(DAY)
await ada.act({ action: 'keyring.created', entityType: 'settings', entityId: null, input: {}, output: {} })
clock.advance(DAY)
await ada.call({ entityId: 'cmpl_a', input: { mode: 'think' } }, otherKey, 'req_four')
clock.advance(DAY)
await ada.call({ action: 'completion.failed', entityId: 'cmpl_b', output: { status: 503 } })
const eve = someone()
await eve.act({ entityId: 'k1', entityType: 'api_key' })

const NAMES = ['key.created', 'key.revoked', 'keyring.created', 'completion.created', 'completion.failed']
const found = async (query: Parameters<typeof ada.list>[0]) =>
  (await ada.list(query)).items.map(({ action }) => NAMES.indexOf(action) + 1)

describe('GET /audit', () => {
  test('is newest first and shows nobody else', async () => {
    expect(await found({})).toEqual([5, 4, 3, 2, 1])
    expect((await eve.list()).items).toHaveLength(1)
    expect((await someone().list()).items).toEqual([])
  })

  test.each([
    [{ action: 'key.created' }, [1]],
    [{ action: 'key.*' }, [2, 1]],
    [{ action: 'completion.*' }, [5, 4]],
    [{ action: 'k_y.*' }, []],
    [{ entity_type: 'api_key' }, [2, 1]],
    [{ entity_id: 'k1' }, [2, 1]],
    [{ entity_id: 'cmpl_a' }, [4]],
    [{ entity_id: 'cmpl_b', entity_type: 'completion' }, [5]],
    [{ request_id: 'req_four' }, [4]],
    [{ key_id: otherKey.keyId }, [4]],
    [{ mode: 'think' }, [4]],
    [{ status: 503 }, [5]],
    [{ status: 201 }, [1]],
    [{ status: 404 }, []],
    [{ action: 'key.*', status: 200 }, [2]],
    [{ from: '2026-01-02T00:00:00Z' }, [5, 4, 3, 2]],
    [{ to: '2026-01-02T00:00:00Z' }, [1]],
    [{ to: '2026-01-02' }, [2, 1]],
    [{ from: '2026-01-02', to: '2026-01-03' }, [3, 2]],
    [{ from: '2026-01-03T01:00:00+01:00', to: '2026-01-03T00:00:00.001Z' }, [3]],
    [{ from: '2026-01-02', action: 'key.*' }, [2]],
    [{ from: '2027-01-01' }, []],
    [{ to: '2025-01-01' }, []],
  ])('%j finds %j', async (query, places) => {
    expect(await found(query)).toEqual(places)
  })

  test.each([1, 2, 3, 4, 5, 6])('in pages of %i gives every event once', async (limit) => {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await ada.list({ limit, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.items.length).toBeLessThanOrEqual(limit)
      seen.push(...page.items.map(({ action }) => action))
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual([...NAMES].reverse())
  })

  test('goes on from its cursor though newer events arrive', async () => {
    const bob = someone()
    for (const id of ['a', 'b', 'c']) await bob.act({ entityId: id })
    const first = await bob.list({ limit: 2 })
    await bob.act({ entityId: 'd' })
    const second = await bob.list({ limit: 2, cursor: first.next! })
    expect(second.items.map(({ entityId }) => entityId)).toEqual(['a'])
    expect(second.next).toBeNull()
  })

  test('refuses a cursor of another filter or another chain; only the length of a page may change', async () => {
    const { next } = await ada.list({ action: 'key.*', limit: 1 })
    expect((await ada.list({ action: 'key.*', limit: 5, cursor: next! })).items).toHaveLength(1)
    const elsewhere = [ada.list({ cursor: next! }), ada.list({ action: 'key.created', cursor: next! })]
    for (const list of [...elsewhere, eve.list({ action: 'key.*', cursor: next! })]) {
      await expect(list).rejects.toMatchObject({ code: 'validation_error', param: 'cursor' })
    }
  })

  test.each([
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-02-31' }, 'to'],
    [{ to: '2026-13-01T00:00:00Z' }, 'to'],
    [{ cursor: 'nonsense' }, 'cursor'],
    [{ cursor: encodeCursor('another list', { at: 5, id: '' }) }, 'cursor'],
  ])('%j is 400 and names %s', async (query, param) => {
    await expect(ada.list(query)).rejects.toMatchObject({ code: 'validation_error', param })
  })
})

test('a rare filter over a long chain answers short pages that go on, and finds everything', async () => {
  const bob = someone()
  const fill = (count: number) =>
    Promise.all(Array.from({ length: count }, () => bob.act({ input: { mode: 'fast' }, entityId: null })))
  await bob.act({ input: { mode: 'roast' } })
  for (let batch = 0; batch < 12; batch++) await fill(500)
  await bob.act({ input: { mode: 'roast' } })
  const { items, next } = await bob.list({ mode: 'roast' })
  expect(items).toHaveLength(2)
  expect(next).toBeNull()
})
