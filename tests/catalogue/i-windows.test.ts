import { describe, expect, test } from 'bun:test'
import { twoHandedClock } from '../support/two-handed-clock'
import { createWorld } from '../support/world'

const clock = twoHandedClock()
const world = await createWorld({ clock })
const HOUR_MS = 3_600_000

/** How many of `count` requests are let in now. */
async function admitted(person: Awaited<ReturnType<typeof world.person>>, count: number): Promise<number> {
  const replies = await Promise.all(Array.from({ length: count }, () => person.send('GET', 'models')))
  return replies.filter(({ status }) => status === 200).length
}

/** docs/attacks.md I-2, docs/promises.md I12 and I13 are in tests/limits/rate-limits. */
describe('I. windows', () => {
  test.each([
    ['an hour back', -HOUR_MS],
    ['a day ahead', 24 * HOUR_MS],
    ['a day back', -24 * HOUR_MS],
  ])('I-9 the wall clock jumping %s neither opens the window nor sticks it', async (_, jump) => {
    const free = await world.person({ tier: 'free' })
    expect(await admitted(free, 60)).toBe(60)
    clock.jump(jump)
    expect(await admitted(free, 1)).toBe(0)
    clock.advance(60_000)
    expect(await admitted(free, 60)).toBe(60)
  })
})
