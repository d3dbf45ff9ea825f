import { expect, test } from 'bun:test'
import { mintSecret } from '../../../src/accounts'
import { crc32Base62 } from '../../../src/kernel/crypto'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const SAMPLES = store.dialect === 'postgres' ? 1_500 : 5_000

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!

/** A key nobody has that shares all but its last random character with one somebody has. */
function neighbour(token: string): string {
  const body = token.slice(0, -7) + (token.at(-7) === 'a' ? 'b' : 'a')
  return body + crc32Base62(body)
}

type Lookup = ReturnType<typeof createWorld>['lookup']

/** How long the one takes by how long the other does; they take turns at going first. */
async function ratioOf(lookup: Lookup, near: string, far: string): Promise<number> {
  const took = { near: [] as number[], far: [] as number[] }
  const pairs = [
    ['near', near],
    ['far', far],
  ] as const
  for (let n = 0; n < SAMPLES; n++) {
    for (const [which, token] of n % 2 ? pairs : pairs.toReversed()) {
      const begun = performance.now()
      const found = await lookup.find(token)
      took[which].push(performance.now() - begun)
      if (found) throw new Error(`${which} opened something`)
    }
  }
  return median(took.near) / median(took.far)
}

/** A difference that is there shows in every round; one that the machine made does not show in three. */
test('a key that is almost right takes as long as one that is not (I26)', async () => {
  const { addUser, withKey, lookup } = createWorld(store)
  const { key } = await withKey((await addUser()).id)
  const ratios: number[] = []
  while (ratios.length < 3 && !ratios.some((ratio) => Math.abs(ratio - 1) < 0.05)) {
    ratios.push(await ratioOf(lookup, neighbour(key.key), mintSecret('svc_sk_live_').token))
  }
  expect(ratios.at(-1)).toBeWithin(0.95, 1.05)
}, 120_000)
