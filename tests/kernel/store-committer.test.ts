// Both databases: the store itself.
import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock'
import type { Tx } from '../../src/kernel/store'
import { createCommitter, createStorageHealth, type Unit } from '../../src/kernel/store/sqlite'
import { insert, openScratchFile } from './scratch'

type Faults = Partial<Record<string, (Error | null)[]>>

/** A committer over a writer that runs nothing, notes what it was asked, and fails as it is told to. */
function scripted(faults: Faults = {}, busyPatienceMs = 60) {
  const ran: string[] = []
  const state = { inTransaction: false }
  const run = (text: string) => {
    const word = text.split(' ')[0]!
    ran.push(word)
    const fault = faults[word]?.shift()
    if (fault) throw fault
    if (word === 'BEGIN') state.inTransaction = true
    if (word === 'COMMIT' || text === 'ROLLBACK') state.inTransaction = false
  }
  const writer = Object.defineProperty(
    { prepare: (text: string) => ({ run: () => run(text) }), run } as unknown as Database,
    'inTransaction',
    { get: () => state.inTransaction },
  )
  const keeping = createStorageHealth()
  const batches: number[] = []
  const diskFailures: unknown[] = []
  const onBatch = (units: number) => void batches.push(units)
  const onDiskFailure = (error: unknown) => void diskFailures.push(error)
  const committer = createCommitter({
    ...{ writer, base: {} as Tx, strict: false, keeping, busyPatienceMs, onBatch, onDiskFailure },
  })
  const ask = (unit: Unit['run'] = async () => 'done', soon = false) =>
    new Promise<unknown>((resolve, reject) =>
      committer.enqueue({ run: unit, soon, resolve, reject, queuedAt: systemClock.monotonic() }),
    )
  const count = (word: string) => ran.filter((one) => one === word).length
  return { ...committer, ask, ran, count, batches, keeping, diskFailures }
}
const failure = (code: string) => Object.assign(new Error(code), { code })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a commit', () => {
  test('is of 512 units at most, so that nobody waits for everyone', async () => {
    const batches: number[] = []
    const { store } = openScratchFile({ onBatch: (units) => batches.push(units) })
    const ids = Array.from({ length: 1_200 }, (_, number) => `unit-${number}`)
    await Promise.all(ids.map((id) => store.write((tx) => insert(tx, { id, amount: 1 }))))
    expect(batches).toEqual([512, 512, 176])
  })

  test('waits four turns of the event loop at most for units that join it', async () => {
    const { ask, batches } = scripted()
    const requests: Promise<unknown>[] = []
    for (let made = 0; made < 24; made++) {
      requests.push(ask())
      await turn()
    }
    await Promise.all(requests)
    expect(Math.max(...batches)).toBe(4)
    expect(batches.reduce((sum, units) => sum + units, 0)).toBe(24)
  })

  test('has a savepoint for each unit, and one that failed is undone alone', async () => {
    const { ask, ran } = scripted()
    const ended = await Promise.allSettled([ask(), ask(() => Promise.reject(new Error('no'))), ask()])
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const unit = ['SAVEPOINT', 'RELEASE']
    expect(ran).toEqual(['BEGIN', ...unit, 'SAVEPOINT', 'ROLLBACK', 'RELEASE', ...unit, 'COMMIT'])
  })

  test('that fails rejects every unit in it, and the next one is as good as new', async () => {
    const { ask, count, batches, keeping, diskFailures } = scripted({ COMMIT: [failure('SQLITE_FULL')] })
    for (const one of await Promise.allSettled([ask(), ask()])) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable', retryAfterS: 30 } })
    }
    expect({ count: count('ROLLBACK'), batches, failing: keeping.failing(), diskFailures }).toEqual({
      count: 1,
      batches: [],
      failing: true,
      diskFailures: [],
    })
    expect(await ask()).toBe('done')
    expect({ batches, failing: keeping.failing() }).toEqual({ batches: [1], failing: false })
    // Without a page to write a commit would prove nothing: the first one after a failure writes one.
    expect(count('PRAGMA')).toBe(1)
    await ask()
    expect(count('PRAGMA')).toBe(1)
  })

  test.each([
    ['SQLITE_IOERR_FSYNC', 1],
    ['SQLITE_CORRUPT', 1],
    ['SQLITE_FULL', 0],
    ['SQLITE_BUSY', 0],
  ])('that fails by %s ends the process: %p', async (code, times) => {
    const { ask, diskFailures } = scripted({ COMMIT: [failure(code)] })
    await expect(ask()).rejects.toThrow()
    expect(diskFailures).toHaveLength(times)
  })

  test('is not tried for a transaction that SQLite has rolled back by itself', async () => {
    const { ask, ran, diskFailures } = scripted({ SAVEPOINT: [failure('SQLITE_IOERR')] })
    await expect(ask()).rejects.toThrow()
    expect(ran).toEqual(['BEGIN', 'SAVEPOINT', 'ROLLBACK'])
    expect(diskFailures).toHaveLength(1)
    expect(await ask()).toBe('done')
  })
})

describe('a transaction that another program keeps from beginning', () => {
  /** By a clock of its own: a busy machine sleeps longer than it is told to. */
  let now = 0
  beforeEach(() => {
    spyOn(systemClock, 'monotonic').mockImplementation(() => now)
    spyOn(systemClock, 'sleep').mockImplementation(async (ms) => {
      now += ms
    })
  })
  afterEach(() => {
    spyOn(systemClock, 'monotonic').mockRestore()
    spyOn(systemClock, 'sleep').mockRestore()
  })

  test('is tried every 20 ms, until its patience is over', async () => {
    const busy = () => Array.from({ length: 9 }, () => failure('SQLITE_BUSY'))
    const { ask, count } = scripted({ BEGIN: busy() }, 60)
    await expect(ask()).rejects.toMatchObject({ code: 'storage_unavailable', retryAfterS: 1 })
    expect(count('BEGIN')).toBe(4)
    const impatient = scripted({ BEGIN: busy() }, 0)
    await expect(impatient.ask()).rejects.toThrow()
    expect(impatient.count('BEGIN')).toBe(1)
  })

  test('begins as soon as it can', async () => {
    const { ask, count } = scripted({ BEGIN: [failure('SQLITE_BUSY'), failure('SQLITE_LOCKED')] })
    expect(await ask()).toBe('done')
    expect(count('BEGIN')).toBe(3)
  })
})

describe('a unit that is answered before it is durable', () => {
  test('is committed when it is not followed by another, and when that is asked for', async () => {
    const { ask, finish, count } = scripted()
    expect(await ask(undefined, true)).toBe('done')
    expect(count('COMMIT')).toBe(0)
    await finish()
    expect(count('COMMIT')).toBe(1)
    await finish()
    expect(count('COMMIT')).toBe(1)
  })

  test('has no effects after its commit, as its caller has gone on', async () => {
    const { ask, finish } = scripted()
    await expect(ask(async (tx) => tx.afterCommit(() => undefined), true)).rejects.toThrow('has no after')
    await finish()
  })

  test('is lost with the commit of others, and those are told', async () => {
    const { ask, batches } = scripted({ COMMIT: [failure('SQLITE_FULL')] })
    const [soon, sure] = await Promise.allSettled([ask(undefined, true), ask()])
    expect(soon!.status).toBe('fulfilled')
    expect(sure!.status).toBe('rejected')
    expect(batches).toEqual([])
  })
})

describe('the time that such units wait for others', () => {
  const armed: { ms: number | undefined; ring(): void }[] = []
  const timers = () =>
    spyOn(globalThis, 'setTimeout').mockImplementation(((ring: () => void, ms?: number) => {
      armed.push({ ms, ring })
      return armed.length
    }) as unknown as typeof setTimeout)
  afterEach(() => {
    armed.length = 0
    spyOn(globalThis, 'setTimeout').mockRestore()
  })

  test('is three milliseconds, each time anew', async () => {
    const { ask, count } = scripted()
    timers()
    for (const turns of [1, 2]) {
      await Promise.all([ask(undefined, true), ask(undefined, true)])
      await turn()
      await turn()
      expect({ armed: armed.map(({ ms }) => ms), count: count('COMMIT') }).toEqual({ armed: [3], count: turns - 1 })
      armed.pop()!.ring()
      expect(count('COMMIT')).toBe(turns)
    }
  })

  test('is not longer for those that come meanwhile', async () => {
    const { ask, count } = scripted()
    timers()
    await ask(undefined, true)
    await turn()
    await turn()
    await ask(async () => armed[0]!.ring(), true)
    await turn()
    await turn()
    expect(armed).toHaveLength(1)
    expect(count('COMMIT')).toBe(1)
    expect(count('BEGIN')).toBe(1)
    await ask(undefined, true)
    await turn()
    await turn()
    expect(armed).toHaveLength(2)
    expect(count('COMMIT')).toBe(1)
    expect(count('BEGIN')).toBe(2)
  })

  test('ends with the commit of a unit that must be durable', async () => {
    const { ask, count } = scripted()
    timers()
    await ask(undefined, true)
    await turn()
    await turn()
    await ask()
    expect({ armed: armed.length, count: count('COMMIT') }).toEqual({ armed: 1, count: 1 })
    armed[0]!.ring()
    expect(count('COMMIT')).toBe(1)
  })
})
