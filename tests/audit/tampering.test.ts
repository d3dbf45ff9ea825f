import { afterAll, describe, expect, test } from 'bun:test'
import { seededRandom } from '../support/random'
import { createBench, MUTATIONS } from './tampering'

/** The short form of docs/promises.md I20; `bun run prove tampering` does each of them at 50 places. */
const PLACES = 6
const bench = await createBench(60)
afterAll(bench.close)
const random = seededRandom(20)
const places = [1, bench.events, ...Array.from({ length: PLACES - 2 }, () => random.between(2, bench.events - 1))]

describe('given the last checkpoint, verify (I20)', () => {
  test('finds nothing wrong with an honest copy', async () => {
    for (const _ of places) expect(await bench.verifyAfter(() => undefined)).toEqual({ chains: [], checkpoints: [] })
  })

  test.each(Object.entries(MUTATIONS))('finds %s, at any place', async (_name, mutate) => {
    for (const seq of places) {
      const { chains, checkpoints } = await bench.verifyAfter((raw) => mutate(raw, bench.scope, seq))
      expect([...chains, ...checkpoints].join(), `event ${seq}`).toContain(bench.scope)
    }
  })

  test.each(['a tail cut, and the head set back', 'everything rewritten from an event on'])(
    'would not find %s without one',
    async (name) => {
      const found = await bench.verifyAfter((raw) => MUTATIONS[name]!(raw, bench.scope, 30))
      expect(found.chains).toEqual([])
      expect(found.checkpoints).toEqual([expect.stringContaining(`audit ${bench.scope} #60: is not the event`)])
    },
  )
})
