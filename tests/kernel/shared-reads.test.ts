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
