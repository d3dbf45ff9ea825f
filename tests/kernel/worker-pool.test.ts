import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { allowedBytes, createWorkerPool } from '../../src/kernel/worker-pool'
import { eventually } from '../support/eventually'

const MB = 1024 ** 2
const script = new URL('./worker-pool.worker.ts', import.meta.url)
const signal = new AbortController().signal
type About = { timeoutMs?: number; signal?: AbortSignal; who?: string; notify?: (percent: number) => void }

const open = (max = 1, idleMs = 60_000, each = max) => {
  const pool = createWorkerPool<string, unknown>({ script, max, each, idleMs, memoryBytes: 256 * MB })
  return (order: string, about: About = {}) => pool.run(order, { timeoutMs: 20_000, signal, who: 'ada', ...about })
}

describe('a worker pool', () => {
  test('does one order after another in one process of its own, however many come at once', async () => {
    const ask = open()
    expect(await Promise.all(['count', 'count', 'count'].map((order) => ask(order)))).toEqual([1, 2, 3])
    expect(await ask('pid')).not.toBe(process.pid)
  })

  test('opens no more processes than allowed', async () => {
    const ask = open(2)
    expect(new Set(await Promise.all(Array.from({ length: 6 }, () => ask('pid')))).size).toBeLessThanOrEqual(2)
  })

  test('passes on a refusal of the script, and keeps the process', async () => {
    const ask = open()
    await expect(ask('refuse')).rejects.toMatchObject({ name: 'WorkerFailure', kind: 'failed', message: 'refused' })
    expect(await ask('count')).toBe(2)
  })

  test.each([
    ['takes too long', 'hang', { timeoutMs: 300 }, { kind: 'timeout' }],
    ['goes on in a regular expression', 'match', { timeoutMs: 300 }, { kind: 'timeout' }],
    ['takes too much memory', 'grow', {}, { kind: 'memory' }],
    ['breaks', 'break', {}, { kind: 'failed' }],
  ])('ends a process that %s, and the next order gets a new one', async (_, order, limits, failure) => {
    const ask = open()
    const pid = (await ask('pid')) as number
    await expect(ask(order, limits)).rejects.toMatchObject(failure)
    await eventually(() => !isThere(pid))
    expect(await ask('count')).toBe(1)
  })

  test('does not keep a process that has grown to more than half of its bound', async () => {
    const ask = open()
    const pid = (await ask('swell')) as number
    await eventually(() => !isThere(pid))
    expect(await ask('count')).toBe(1)
  })

  test('passes on how much is done, and answers of many megabytes', async () => {
    const ask = open()
    const percents: number[] = []
    expect(await ask('steps', { notify: (percent) => percents.push(percent) })).toBe('steps')
    expect(percents).toEqual([0, 50, 100])
    expect((await ask('bytes')) as Uint8Array).toHaveLength(40 * MB)
  })

  test('replaces a process that ended while it was idle', async () => {
    const ask = open()
    process.kill((await ask('pid')) as number, 'SIGKILL')
    await eventually(
      () => ask('count').catch(() => 0),
      (count) => count === 1,
    )
  })

  test('ends its processes with the server, also one that computes', async () => {
    const code = `
      const { createWorkerPool } = await import('${import.meta.dir}/../../src/kernel/worker-pool.ts')
      const pool = createWorkerPool({ script: new URL('${script.href}'), max: 1, idleMs: 60_000 })
      const ask = (order) => pool.run(order, { timeoutMs: 60_000, signal: new AbortController().signal })
      process.stdout.write(String(await ask('pid')))
      await ask('hang')`
    const server = Bun.spawn([process.execPath, '-e', code], { stdin: 'ignore', stdout: 'pipe' })
    const pid = Number(Buffer.from((await server.stdout.getReader().read()).value!).toString())
    expect(isThere(pid)).toBe(true)
    server.kill('SIGKILL')
    await eventually(() => !isThere(pid))
  })

  test('has less memory for each process on a small machine, but enough to work', () => {
    expect(allowedBytes(512 * MB, 16_384 * MB)).toBe(512 * MB)
    expect(allowedBytes(3_072 * MB, 4_096 * MB)).toBe(1_024 * MB)
    expect(allowedBytes(3_072 * MB, 512 * MB)).toBe(256 * MB)
  })

  test('limits the processes of one owner, so that another is served meanwhile', async () => {
    const ask = open(2, 60_000, 1)
    const done: string[] = []
    await Promise.all([
      ask('hang', { timeoutMs: 1_500 }).catch(() => done.push('ada, slow')),
      ask('count').then(() => done.push('ada')),
      ask('count', { who: 'bob' }).then(() => done.push('bob')),
    ])
    expect(done).toEqual(['bob', 'ada, slow', 'ada'])
  })

  test('a task ends with its signal, whether it runs or waits', async () => {
    const ask = open()
    const ending = new AbortController()
    const ends = Promise.allSettled(['hang', 'a'].map((order) => ask(order, { signal: ending.signal })))
    setTimeout(() => ending.abort(new Error('gone')), 50)
    const gone = { status: 'rejected', reason: { message: 'gone' } }
    expect(await ends).toMatchObject([gone, gone])
    expect(await ask('b')).toBe('b')
  })

  test('a waiting task leaves with its signal, while the one before it continues', async () => {
    const ask = open()
    const [going, leaving] = [new AbortController(), new AbortController()]
    const busy = ask('hang', { signal: going.signal })
    const waiting = ask('a', { signal: leaving.signal })
    leaving.abort(new Error('time is up'))
    await expect(waiting).rejects.toThrow('time is up')
    going.abort(new Error('enough'))
    await expect(busy).rejects.toThrow('enough')
  })

  test('serves owners without a running order first, and others in turn', async () => {
    const ask = open(2)
    const ending = new AbortController()
    const busy = ask('hang', { who: 'eve', signal: ending.signal })
    const done: unknown[] = []
    const order = (name: string) => ask(name, { who: name.split(' ')[0]! }).then((answer) => done.push(answer))
    await Promise.all(['eve 1', 'eve 2', 'eve 3', 'bob 1', 'cyd 1', 'bob 2'].map(order))
    expect(done).toEqual(['eve 1', 'bob 1', 'cyd 1', 'bob 2', 'eve 2', 'eve 3'])
    ending.abort(new Error('enough'))
    await expect(busy).rejects.toThrow('enough')
  })

  test('ends an idle process', async () => {
    const pid = (await open(1, 0)('pid')) as number
    await eventually(() => !isThere(pid))
  })
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}
