import { expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { busEvents } from '../../src/events/table'
import { newRequestId } from '../../src/kernel/ids'
import { removeOld, removeOldest } from '../../src/kernel/old-rows'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const EVENTS = { table: busEvents, key: 'id', at: 'created_at' } as const

async function seed(owner: string, times: readonly number[]) {
  const row = { owner: `user:${owner}`, type: 'a.made', envelope: '{}', source: null, depth: 0 } as const
  await store.write((tx) =>
    tx
      .insert(tx.of(busEvents))
      .values(times.map((created_at) => ({ ...row, id: `evt_${newRequestId()}` as never, created_at }))),
  )
}

async function timesOf(owner: string) {
  const t = store.read.of(busEvents)
  const found = store.read.select({ at: t.created_at }).from(t)
  return (await found.where(eq(t.owner, `user:${owner}`)).orderBy(asc(t.created_at))).map(({ at }) => at)
}

test('rows older than a moment are deleted, with what belongs to them, and others stay', async () => {
  // Many of one time: a batch ends between them, and the next one begins with that time again.
  await seed('old', [...Array(180).fill(5), ...Array(40).fill(6), 7, 8, 9])
  await seed('kept', [1, 5, 6])
  const also: string[] = []
  const aged = {
    ...EVENTS,
    where: (t: typeof busEvents.sqlite) => eq(t.owner, 'user:old'),
    also: async (_: unknown, keys: readonly string[]) => void also.push(...keys),
  }
  expect(await removeOld(store, aged, 8)).toBe(221)
  expect(await timesOf('old')).toEqual([8, 9])
  expect(await timesOf('kept')).toEqual([1, 5, 6])
  expect(new Set(also).size).toBe(221)
  expect(await removeOld(store, EVENTS, 9)).toBe(4)
})

test('a batch begins where it is told to, takes the oldest from there, and says when they were', async () => {
  await seed('sliced', [3, 1, 4, 2, 5])
  const remove = (from: number, limit: number) =>
    store.write((tx) => removeOldest(tx, EVENTS, { from, before: 5, limit }))
  expect(await remove(2, 2)).toEqual([2, 3])
  expect(await timesOf('sliced')).toEqual([1, 4, 5])
  expect(await remove(4, 9)).toEqual([4])
  expect(await remove(4, 9)).toEqual([])
})
