import { expect, test } from 'bun:test'
import { createLastSeenBuffer } from '../../src/accounts/keys/lookup'
import { fakeClock } from '../support/clock'

test('a sighting counts as new once per interval, and is taken once', async () => {
  const clock = fakeClock()
  const start = clock.now()
  const taken: (readonly [string, number])[] = []
  const seen = createLastSeenBuffer<string>({
    ...{ everyMs: 60_000, clock },
    store: { write: (unit) => unit({} as never) },
    write: async (_tx, uses) => void taken.push(...uses),
  })
  const take = async () => {
    await seen.flush()
    return taken.splice(0)
  }
  expect(seen.note('a')).toBe(true)
  expect(seen.note('a')).toBe(false)
  expect(seen.note('b')).toBe(true)
  expect(await take()).toEqual([
    ['a', start],
    ['b', start],
  ])
  clock.advance(59_999)
  expect({ note: seen.note('a'), take: await take() }).toEqual({ note: false, take: [] })
  clock.advance(1)
  expect({ note: seen.note('a'), take: await take() }).toEqual({ note: true, take: [['a', start + 60_000]] })
})
