import { expect, test } from 'bun:test'
import { createSharedReads } from '../../src/kernel/shared-reads'
import { fakeClock } from '../support/clock'

test('reads of one name share what was read in the last second', async () => {
  const clock = fakeClock()
  const read = createSharedReads(clock)
  let made = 0
  const ask = async (name: string) => (await read(name, async () => ++made)).found
  expect(await Promise.all([ask('ada needs'), ask('ada needs'), ask('bob needs')])).toEqual([1, 1, 2])
  clock.advance(1_000)
  expect(await ask('ada needs')).toBe(3)
})

test('a reader says how old a reading may be, failures are not kept, and the oldest readings go first', async () => {
  const clock = fakeClock()
  const read = createSharedReads(clock)
  let made = 0
  const ask = async (name: string, maxAgeMs: number) => (await read(name, async () => ++made, maxAgeMs)).found
  expect(await ask('a', 5_000)).toBe(1)
  clock.advance(4_000)
  for (const [maxAgeMs, found] of [
    [5_000, 1],
    [4_000, 2],
    [5_000, 2],
  ] as const)
    expect({ maxAgeMs, found: await ask('a', maxAgeMs) }).toEqual({ maxAgeMs, found })
  const fails = () => read('b', () => Promise.reject(new Error('no')), 5_000)
  expect(await Promise.allSettled([fails(), fails()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(await ask('b', 5_000)).toBe(3)
  for (let n = 0; n < 200; n++) await ask(`other ${n}`, 5_000)
  expect(await ask('a', 5_000)).toBe(204)
})
