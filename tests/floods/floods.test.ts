// SQLite only: what is measured comes before the database.
// Timed: how late /health is.
import { afterAll, expect, test } from 'bun:test'
import { slowness } from '../support/effort'
import { tooLong } from './bounds'
import { CHARACTERS, floodAll, PUMPS, startTarget } from './floods'

const LENGTH = 10_000
const FEW = ['"', ' ', '{'].map((one) => CHARACTERS.find((flood) => flood.of(1) === one)!)

const target = await startTarget()
afterAll(() => target.kill())

test('no text without end holds the server or its own call, whatever the field (bun run prove floods has them all)', async () => {
  const costs = await floodAll(target, {
    characters: FEW,
    pumps: PUMPS.filter((_, at) => at % 20 === 0),
    length: LENGTH,
  })
  const slower = await slowness()
  expect(costs.length).toBeGreaterThan(150)
  expect(costs.filter((cost) => tooLong(cost, slower))).toEqual([])
  expect(target.alive()).toBe(true)
}, 300_000)
