import { expect, test } from 'bun:test'
import { levelOf } from '../../../src/limits/shared-store'
import { seededRandom } from '../../support/random'

test.each([
  [60, [0, 0], [30, 30]],
  [61, [0, 0], [31, 30]],
  [1, [0, 0], [1, 0]],
  [60, [50, 0], [30, 10]],
  [60, [20, 20, 0], [20, 20, 20]],
  [60, [0, 30, 24], [6, 20, 20]],
  [60, [60, 0], [30, 0]],
  [60, [70, 0], [30, 0]],
  [60, [12], [60]],
])('of %d, where nodes have used %j, they may use %j', (limit, used, levels) => {
  const nodes = used.map((each, at) => ({ node: `node${at}`, used: each }))
  expect(nodes.map(({ node }) => levelOf(limit, node, nodes))).toEqual(levels)
})

test('nodes that decide by what the others had used a moment ago stay within the limit together', () => {
  const random = seededRandom(27)
  for (let round = 0; round < 500; round++) {
    const limit = random.between(1, 100)
    const nodes = Array.from({ length: random.between(2, 5) }, (_, at) => ({ node: `node${at}`, used: 0 }))
    for (let left = random.between(0, limit); left > 0; left--) random.pick(nodes).used++
    let seen = structuredClone(nodes)
    for (let step = 0; step < 60; step++) {
      if (random.between(1, 8) === 1) seen = structuredClone(nodes)
      const one = random.pick(nodes)
      const view = seen.map((each) => (each.node === one.node ? one : each))
      if (one.used + 1 <= levelOf(limit, one.node, view)) one.used++
      expect(nodes.reduce((sum, { used }) => sum + used, 0)).toBeLessThanOrEqual(limit)
    }
  }
})
