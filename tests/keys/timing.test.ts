import { expect, test } from 'bun:test'
import { crc32Base62 } from '../../src/kernel/crypto'
import { mintSecret } from '../../src/keys'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const SAMPLES = 5_000

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!

/** A key nobody has that shares all but its last random character with one somebody has. */
function neighbour(token: string): string {
  const body = token.slice(0, -7) + (token.at(-7) === 'a' ? 'b' : 'a')
  return body + crc32Base62(body)
}

test('a key that is almost right takes as long as one that is not (I26)', async () => {
  const { addUser, withKey, lookup } = createWorld(store)
  const { key } = await withKey((await addUser()).id)
  const candidates = { near: neighbour(key.key), far: mintSecret('svc_sk_live_').token }
  const took = { near: [] as number[], far: [] as number[] }
  for (let n = 0; n < SAMPLES; n++) {
    for (const which of ['near', 'far'] as const) {
      const begun = performance.now()
      const found = await lookup.find(candidates[which])
      took[which].push(performance.now() - begun)
      if (found) throw new Error(`${which} opened something`)
    }
  }
  const ratio = median(took.near) / median(took.far)
  expect(ratio).toBeWithin(0.95, 1.05)
}, 60_000)
