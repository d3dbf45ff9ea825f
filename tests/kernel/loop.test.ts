import { describe, expect, test } from 'bun:test'
import { inBatches, startLoop, untilBeat } from '../../src/kernel/loop'
import { fakeClock } from '../support/clock'

/** Runs everything that is ready to run. */
const settle = () => Bun.sleep(0)

function tracked(script: (number | Error)[] = [], idleMs = 1_000) {
  const clock = fakeClock()
  const errors: string[] = []
  let ticks = 0
  const loop = startLoop({
    name: 'test',
    idleMs,
    clock,
    onError: (name, error) => errors.push(`${name}: ${(error as Error).message}`),
    tick: async () => {
      const next = script[ticks++] ?? 0
      if (next instanceof Error) throw next
      return next
    },
  })
  return { clock, loop, errors, ticks: () => ticks }
}

describe('loops', () => {
  test('go on at once while there is work, then sleep', async () => {
    const { clock, loop, ticks } = tracked([3, 1, 0])
    await settle()
    expect(ticks()).toBe(3)
    clock.advance(999)
    await settle()
    expect(ticks()).toBe(3)
    clock.advance(1)
    await settle()
    expect(ticks()).toBe(4)
    await loop.stop()
  })

  test('that rest for a second or more wake together, at the last half second within their rest', async () => {
    const clock = fakeClock()
    clock.advance(5_310)
    expect([1_000, 1_500, 30_000].map((ms) => clock.monotonic() + untilBeat(clock, ms))).toEqual([6_000, 6_500, 35_000])
    expect(untilBeat(clock, 999)).toBe(999)
    // A timer that fired a little early does not bring the next beat forward.
    clock.advance(689)
    expect(untilBeat(clock, 1_500)).toBe(1_501)
  })

  test('wake up early when asked to', async () => {
    const { loop, ticks } = tracked()
    await settle()
    loop.wake()
    await settle()
    expect(ticks()).toBe(2)
    await loop.stop()
  })

  test('report a failing tick and back off, twice as long each time', async () => {
    const { clock, loop, errors, ticks } = tracked([new Error('one'), new Error('two'), 0])
    await settle()
    clock.advance(1_999)
    await settle()
    expect(ticks()).toBe(1)
    clock.advance(1)
    await settle()
    expect(ticks()).toBe(2)
    clock.advance(3_999)
    await settle()
    expect(ticks()).toBe(2)
    clock.advance(1)
    await settle()
    expect(ticks()).toBe(3)
    expect(errors).toEqual(['test: one', 'test: two'])
    await loop.stop()
  })

  test('stop aborts the running tick and waits for it', async () => {
    let finish = () => {}
    let aborted = false
    const loop = startLoop({
      name: 'slow',
      idleMs: 1,
      clock: fakeClock(),
      onError: () => {},
      tick: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true
          })
          finish = () => resolve(1)
        }),
    })
    let stopped = false
    const stopping = loop.stop().then(() => {
      stopped = true
    })
    await settle()
    expect({ aborted, stopped }).toEqual({ aborted: true, stopped: false })
    finish()
    await stopping
    expect(stopped).toBe(true)
  })
})

describe('batches', () => {
  test('grow slowly while they are short', async () => {
    const limits: number[] = []
    expect(await inBatches(async (limit) => (limits.push(limit) < 14 ? limit : 0))).toBeGreaterThan(1_000)
    expect(limits.slice(0, 4)).toEqual([50, 63, 79, 99])
    expect(limits.at(-1)).toBe(200)
  })

  test('are made smaller after one that took too long, down to a single row', async () => {
    const limits: number[] = []
    const slow = async (limit: number) => {
      limits.push(limit)
      Bun.sleepSync(limits.length === 1 ? 30 : 200)
      return limits.length === 5 ? 0 : limit
    }
    await inBatches(slow)
    expect(limits[1]).toBeLessThanOrEqual(limits[0]! / 2)
    expect(limits.slice(2)).toEqual([1, 1, 1])
  })

  test('begin where the one before ended', async () => {
    const begins: number[] = []
    const times = [[3, 3, 5], [5], []]
    expect(await inBatches(async (_, from) => times[begins.push(from) - 1]!)).toBe(4)
    expect(begins).toEqual([0, 5, 5])
  })

  test('end when the signal aborts', async () => {
    const ended = new AbortController()
    const aborting = async (limit: number) => {
      ended.abort()
      return limit
    }
    expect(await inBatches(aborting, ended.signal)).toBe(50)
  })
})
