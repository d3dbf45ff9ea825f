import { describe, expect, test } from 'bun:test'
import { createWorkerPool } from '../../src/kernel/worker-pool'
import { openProcess } from '../../src/kernel/worker-process'
import { eventually } from '../support/eventually'

const signal = new AbortController().signal
const open = (most = 1, idleMs = 60_000, each = most) => {
  let opened = 0
  const pool = createWorkerPool<string, unknown>({
    open: () => {
      opened++
      return new Worker(new URL('./worker-pool.worker.ts', import.meta.url).href)
    },
    most,
    each,
    idleMs,
    growthBytes: 128 * 1024 * 1024,
  })
  const ask = (order: string, about: { timeoutMs?: number; signal?: AbortSignal; who?: string } = {}) =>
    pool.run(order, { timeoutMs: 20_000, signal, who: 'ada', ...about })
  return { ask, opened: () => opened }
}

describe('a worker pool', () => {
  test('does one order after another on one thread, however many come at once', async () => {
    const { ask, opened } = open()
    expect(await Promise.all(['count', 'count', 'count'].map((order) => ask(order)))).toEqual([1, 2, 3])
    expect(opened()).toBe(1)
  })

  test('opens no more threads than allowed', async () => {
    const { ask, opened } = open(2)
    await Promise.all(Array.from({ length: 6 }, () => ask('count')))
    expect(opened()).toBeLessThanOrEqual(2)
  })

  test('passes on a refusal of the script, and keeps the thread', async () => {
    const { ask, opened } = open()
    await expect(ask('refuse')).rejects.toMatchObject({ name: 'WorkerFailure', kind: 'failed', message: 'refused' })
    expect(await ask('count')).toBe(2)
    expect(opened()).toBe(1)
  })

  test.each([
    ['takes too long', 'hang', { timeoutMs: 300 }, { kind: 'timeout' }],
    ['takes too much memory', 'grow', {}, { kind: 'memory' }],
    ['breaks', 'break', {}, { kind: 'failed' }],
  ])('ends a thread that %s, and the next order gets a new one', async (_, order, limits, failure) => {
    const { ask, opened } = open()
    await expect(ask(order, limits)).rejects.toMatchObject(failure)
    expect(await ask('count')).toBe(1)
    expect(opened()).toBe(2)
  })

  test('limits the threads of one owner, so that another is served meanwhile', async () => {
    const { ask } = open(2, 60_000, 1)
    const done: string[] = []
    await Promise.all([
      ask('hang', { timeoutMs: 1_500 }).catch(() => done.push('ada, slow')),
      ask('count').then(() => done.push('ada')),
      ask('count', { who: 'bob' }).then(() => done.push('bob')),
    ])
    expect(done).toEqual(['bob', 'ada, slow', 'ada'])
  })

  test('an order ends with its signal, whether it runs or waits', async () => {
    const { ask } = open()
    const ending = new AbortController()
    const ends = Promise.allSettled(['hang', 'a'].map((order) => ask(order, { signal: ending.signal })))
    setTimeout(() => ending.abort(new Error('gone')), 50)
    const gone = { status: 'rejected', reason: { message: 'gone' } }
    expect(await ends).toMatchObject([gone, gone])
    expect(await ask('b')).toBe('b')
  })

  test('an order that waits leaves with its signal, while the one before it goes on', async () => {
    const { ask } = open()
    const [going, leaving] = [new AbortController(), new AbortController()]
    const busy = ask('hang', { signal: going.signal })
    const waiting = ask('a', { signal: leaving.signal })
    leaving.abort(new Error('time is up'))
    await expect(waiting).rejects.toThrow('time is up')
    going.abort(new Error('enough'))
    await expect(busy).rejects.toThrow('enough')
  })

  test('serves owners without a running order first, and others in turn', async () => {
    const { ask } = open(2)
    const ending = new AbortController()
    const busy = ask('hang', { who: 'eve', signal: ending.signal })
    const done: unknown[] = []
    const order = (name: string) => ask(name, { who: name.split(' ')[0]! }).then((answer) => done.push(answer))
    await Promise.all(['eve 1', 'eve 2', 'eve 3', 'bob 1', 'cyd 1', 'bob 2'].map(order))
    expect(done).toEqual(['eve 1', 'bob 1', 'cyd 1', 'bob 2', 'eve 2', 'eve 3'])
    ending.abort(new Error('enough'))
    await expect(busy).rejects.toThrow('enough')
  })

  test('closes an idle thread', async () => {
    const { ask, opened } = open(1, 0)
    await ask('a')
    while (opened() === 1) {
      await new Promise((soon) => setTimeout(soon, 5))
      await ask('a')
    }
    expect(opened()).toBe(2)
  })
})

describe('a pool of processes', () => {
  const script = new URL('./worker-pool.worker.ts', import.meta.url)
  const pool = createWorkerPool<string, unknown>({ open: () => openProcess(script), most: 1, idleMs: 60_000 })
  const ask = (order: string, timeoutMs = 20_000) => pool.run(order, { timeoutMs, signal })

  test('keeps one for the next order', async () => {
    expect([await ask('count'), await ask('count')]).toEqual([1, 2])
    expect(await ask('pid')).not.toBe(process.pid)
  })

  test.each([
    ['takes too long', 'hang', 300, 'timeout'],
    ['breaks', 'break', 20_000, 'failed'],
  ])('ends one that %s, and the next order gets a new one', async (_, order, timeoutMs, kind) => {
    const pid = (await ask('pid')) as number
    await expect(ask(order, timeoutMs)).rejects.toMatchObject({ kind })
    await eventually(() => !isThere(pid))
    expect(await ask('count')).toBe(1)
  })

  test('notices one that ended while it was idle', async () => {
    const pid = (await ask('pid')) as number
    process.kill(pid, 'SIGKILL')
    await eventually(() => !isThere(pid))
    await eventually(
      () => ask('count').catch(() => 0),
      (count) => count === 1,
    )
  })
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
