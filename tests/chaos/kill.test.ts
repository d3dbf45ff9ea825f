import { expect, test } from 'bun:test'
import { slowness } from '../support/effort'
import { isLong } from '../support/long'
import { percentile } from '../support/percentile'
import { postgresUrl } from '../support/store'
import { REPLAYS_A_CYCLE, runKills } from './run'

/** The long run sees every kind of kill; `prove kill` goes on for as long as one likes. */
const CYCLES = isLong ? 10 : 5

test('kills under load lose nothing that was acknowledged and charge nothing twice', async () => {
  const { cycles, acks, replays, violations, bootMs } = await runKills({
    cycles: CYCLES,
    seed: 20_260_101,
    postgres: postgresUrl ?? null,
  })
  expect(violations).toEqual([])
  expect(cycles).toBe(CYCLES)
  expect(acks).toBeGreaterThan(CYCLES * 10)
  expect(replays).toBeGreaterThanOrEqual(CYCLES * REPLAYS_A_CYCLE)
  expect(percentile(bootMs, 0.5)).toBeLessThan(2_000 * (await slowness()))
}, 600_000)
