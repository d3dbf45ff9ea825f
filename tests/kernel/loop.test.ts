import { describe, expect, test } from 'bun:test'
import { startLoop } from '../../src/kernel/loop'
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
