import { describe, expect, test } from 'bun:test'
import { createSemaphore } from '../../src/kernel/semaphore'

/** Tasks that note when they begin and end when the test says so. */
function stage(max: number, each?: number) {
  const semaphore = createSemaphore(max, each)
  const begun: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const start = (name: string) => {
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate)
    return semaphore.run(name.split(' ')[0]!, () => {
      begun.push(name)
      return gate.promise
    })
  }
  const end = async (name: string, error?: Error) => {
    const gate = gates.get(name)!
    if (error) gate.reject(error)
    else gate.resolve()
    await Bun.sleep(0)
  }
  return { start, end, begun }
}

describe('a semaphore', () => {
  test('runs as many tasks as allowed, and then one for each that ends', async () => {
    const { start, end, begun } = stage(2)
    for (const name of ['eve 1', 'eve 2', 'eve 3']) void start(name)
    await Bun.sleep(0)
    expect(begun).toEqual(['eve 1', 'eve 2'])
    await end('eve 2')
    expect(begun).toEqual(['eve 1', 'eve 2', 'eve 3'])
  })

  test('serves an owner without a running task first', async () => {
    const { start, end, begun } = stage(2)
    for (const name of ['eve 1', 'eve 2', 'eve 3', 'bob 1']) void start(name)
    await end('eve 1')
    expect(begun.at(-1)).toBe('bob 1')
    await end('bob 1')
    expect(begun.at(-1)).toBe('eve 3')
  })

  test('serves the owner whose turn was longest ago first, even when only one may run', async () => {
    const { start, end, begun } = stage(1)
    for (const name of ['eve 1', 'eve 2', 'eve 3', 'bob 1', 'bob 2']) void start(name)
    for (const name of ['eve 1', 'bob 1', 'eve 2', 'bob 2']) await end(name)
    expect(begun).toEqual(['eve 1', 'bob 1', 'eve 2', 'bob 2', 'eve 3'])
  })

  test('never gives all its places to one owner', async () => {
    const { start, end, begun } = stage(3, 2)
    for (const name of ['eve 1', 'eve 2', 'eve 3', 'bob 1']) void start(name)
    await Bun.sleep(0)
    expect(begun).toEqual(['eve 1', 'eve 2', 'bob 1'])
    await end('bob 1')
    expect(begun).toHaveLength(3)
    await end('eve 2')
    expect(begun.at(-1)).toBe('eve 3')
  })

  test('goes on after a failure', async () => {
    const { start, end, begun } = stage(1)
    const failing = start('eve 1')
    failing.catch(() => null)
    void start('bob 1')
    await end('eve 1', new Error('broken'))
    await expect(failing).rejects.toThrow('broken')
    expect(begun).toEqual(['eve 1', 'bob 1'])
  })
})
