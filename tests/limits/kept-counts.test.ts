// Postgres alone: what nodes let in, for those that come after them.
import { expect, test } from 'bun:test'
import { createNodeCounts } from '../../src/limits'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { openTestStore, postgresUrl } from '../support/store'

if (!postgresUrl) process.stdout.write('NOT RUN: kept counts, because SVC_TEST_POSTGRES_URL is not set.\n')
const store = await openTestStore()

/** A node whose writes fail while `isAway`. */
function startNode(node: string) {
  const database = { isAway: true, tries: 0 }
  const writeOne: typeof store.writeOne = (unit) => {
    database.tries += 1
    return database.isAway ? Promise.reject(new Error('away')) : store.writeOne(unit)
  }
  const clock = fakeClock()
  const counts = createNodeCounts({ store: { ...store, writeOne }, clock, node })
  /** Lets it try once more. */
  const retry = async () => {
    const before = database.tries
    clock.advance(100)
    await eventually(() => database.tries > before)
  }
  return { counts, clock, database, retry }
}

/** Of those that let in some of it: of each node others know for a while that it is there. */
const isOf = async (subject: string) => {
  const kept = await startNode('reader').counts.read(subject, 'requests', 120_000)
  return kept.filter(({ used }) => used > 0)
}

test.skipIf(!postgresUrl)('what Postgres did not take is written when it is back, with what came since', async () => {
  const { counts, database, retry } = startNode('cut')
  counts.add('key:one', 'requests', 2, 0)
  await eventually(() => database.tries === 1)
  counts.add('key:one', 'requests', 3, 1)
  await retry()
  expect(await isOf('key:one')).toEqual([])
  database.isAway = false
  await retry()
  const kept = await eventually(
    () => isOf('key:one'),
    ({ length }) => length > 0,
  )
  expect(kept).toEqual([{ node: 'cut', used: 5, apart: 1 }])
})

test.skipIf(!postgresUrl)('after a minute without it, what was let in counts no more', async () => {
  const { counts, clock, database, retry } = startNode('long')
  counts.add('key:long', 'requests', 2, 0)
  await eventually(() => database.tries === 1)
  clock.advance(60_000)
  await eventually(() => database.tries === 2)
  counts.add('key:long', 'requests', 1, 0)
  database.isAway = false
  await retry()
  const kept = await eventually(
    () => isOf('key:long'),
    ({ length }) => length > 0,
  )
  expect(kept.map(({ used }) => used)).toEqual([1])
})

test.skipIf(!postgresUrl)('a write that takes long keeps back no later one', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let tries = 0
  const writeOne: typeof store.writeOne = async (unit) => {
    if (++tries === 1) await promise
    return store.writeOne(unit)
  }
  const clock = fakeClock()
  const counts = createNodeCounts({ store: { ...store, writeOne }, clock, node: 'slow' })
  counts.add('key:slow', 'requests', 1, 0)
  await eventually(() => tries === 1)
  counts.add('key:slow', 'requests', 4, 0)
  clock.advance(20)
  const used = async () => (await isOf('key:slow'))[0]?.used
  await eventually(used, (found) => found === 4)
  resolve()
  await eventually(used, (found) => found === 5)
})

test.skipIf(!postgresUrl)(
  'while Postgres is away or late, a call is let in once its count is on the disk',
  async () => {
    const { counts, database } = startNode('careful')
    await expect(counts.letIn('key:careful', 'requests', 1, 0, 60)).rejects.toThrow('away')
    await expect(counts.letIn('key:careful', 'requests', 1, 0, 60)).rejects.toThrow('away')
    database.isAway = false
    await counts.letIn('key:careful', 'requests', 4, 0, 60)
    expect((await isOf('key:careful'))[0]!.used).toBeGreaterThanOrEqual(4)

    const late = Promise.withResolvers<void>()
    let tries = 0
    const writeOne: typeof store.writeOne = (unit) => (++tries === 2 ? late.promise : store.writeOne(unit)) as never
    const clock = fakeClock()
    const slow = createNodeCounts({ store: { ...store, writeOne }, clock, node: 'late' })
    await slow.letIn('key:late', 'requests', 1, 0, 60)
    expect(slow.letIn('key:late', 'requests', 1, 0, 60)).toBeUndefined()
    clock.advance(20)
    await eventually(() => tries === 2)
    clock.advance(201)
    await slow.letIn('key:late', 'requests', 2, 0, 60)
    expect(await isOf('key:late')).toEqual([{ node: 'late', used: 3, apart: 0 }])
    late.resolve()
  },
)

test.skipIf(!postgresUrl)('a twentieth of a limit is let in before it is written, and the rest waits', async () => {
  const { clock, database } = startNode('brisk')
  database.isAway = false
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = createNodeCounts({
    store: {
      ...store,
      writeOne: (unit) => (database.isAway ? promise : Promise.resolve()).then(() => store.writeOne(unit)),
    },
    ...{ clock, node: 'held' },
  })
  await held.letIn('key:held', 'requests', 1, 0, 60)
  database.isAway = true
  for (let times = 0; times < 3; times++) expect(held.letIn('key:held', 'requests', 1, 0, 60)).toBeUndefined()
  let isIn = false
  const fourth = Promise.resolve(held.letIn('key:held', 'requests', 1, 0, 60)).then(() => {
    isIn = true
  })
  expect(held.letIn('key:other', 'requests', 1, 0, 60)).toBeUndefined()
  expect(await isOf('key:held')).toEqual([{ node: 'held', used: 1, apart: 0 }])
  expect(isIn).toBe(false)
  resolve()
  await fourth
  expect(await isOf('key:held')).toEqual([{ node: 'held', used: 5, apart: 0 }])
})

test.skipIf(!postgresUrl)('others know of a node for a minute after the last call it let in', async () => {
  const { counts, clock, database } = startNode('known')
  database.isAway = false
  const isKnown = async () =>
    (await startNode('reader').counts.read('key:unknown', 'requests', 0)).some(({ node }) => node === 'known')
  expect(await isKnown()).toBe(false)
  await counts.letIn('key:known', 'requests', 1, 0, 60)
  expect(await isKnown()).toBe(true)
  // The row has ended for others by then, so it waits for the next.
  clock.advance(20_000)
  expect(counts.letIn('key:known', 'requests', 1, 0, 60)).toBeInstanceOf(Promise)
})
