import { expect, test } from 'bun:test'
import { createLastSeenBuffer } from '../../src/kernel/last-seen-buffer'
import { fakeClock } from '../support/clock'

test('a sighting counts as new once per interval, and is taken once', () => {
  const clock = fakeClock()
  const start = clock.now()
  const seen = createLastSeenBuffer<string>({ everyMs: 60_000, clock })
  expect([seen.note('a'), seen.note('a'), seen.note('b')]).toEqual([true, false, true])
  expect(seen.take()).toEqual([
    ['a', start],
    ['b', start],
  ])
  clock.advance(59_999)
  expect([seen.note('a'), seen.take()]).toEqual([false, []])
  clock.advance(1)
  expect([seen.note('a'), seen.take()]).toEqual([true, [['a', start + 60_000]]])
})
