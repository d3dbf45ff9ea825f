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

describe('I. windows', () => {
  test('I-2 bursts at the edges of a minute never pass 60 in any 60 s', async () => {
    const free = await world.person({ tier: 'free' })
    const accepted: number[] = []
    const steps = [0, 59_900, 200, 29_800, 29_900, 200, 59_800, 400]
    for (const step of steps) {
      clock.advance(step)
      const count = await admitted(free, 60)
      accepted.push(...Array<number>(count).fill(clock.monotonic()))
    }
    const inMinuteFrom = (start: number) => accepted.filter((at) => at >= start && at < start + 60_000).length
    expect(Math.max(...accepted.map(inMinuteFrom))).toBe(60)
    expect(accepted.length).toBeGreaterThanOrEqual(180)
  })

  test('I-2 a sawtooth at random instants uses the limit and never passes it', async () => {
    const free = await world.person({ tier: 'free' })
    const accepted: number[] = []
    let seed = 7
    for (let turn = 0; turn < 200; turn++) {
      seed = (seed * 16_807) % 2_147_483_647
      clock.advance(seed % 4_000)
      const count = await admitted(free, seed % 12)
      accepted.push(...Array<number>(count).fill(clock.monotonic()))
    }
    const max = Math.max(...accepted.map((start) => accepted.filter((at) => at >= start && at < start + 60_000).length))
    expect(max).toBe(60)
  })

  test('I13 after Retry-After the next request is let in, and a second earlier it is not', async () => {
    const free = await world.person({ tier: 'free' })
    await admitted(free, 30)
    clock.advance(12_345)
    await admitted(free, 30)
    const { status, headers } = await free.send('GET', 'models')
    expect(status).toBe(429)
    clock.advance(Number(headers.get('retry-after')) * 1_000 - 1_000)
    expect(await admitted(free, 1)).toBe(0)
    clock.advance(1_000)
    expect(await admitted(free, 1)).toBe(1)
  })

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
