import { seededRandom } from '../support/random'
import { createBench, MUTATIONS } from './tampering'

/**
 * docs/promises.md I20 in full: 8 mutations at 50 random places each, 400 of 400 found, and 50 of 50 honest copies
 * pass. `bun run prove tampering [seed]`; exits 1 when one escapes.
 */
const PLACES = 50
const seed = Number(process.argv[2] ?? 1)
const random = seededRandom(seed)
const bench = await createBench(500)
const missed: string[] = []
let found = 0

for (const [name, mutate] of Object.entries(MUTATIONS)) {
  for (let place = 0; place < PLACES; place++) {
    const seq = random.between(1, bench.events)
    const { chains, checkpoints } = await bench.verifyAfter((raw) => mutate(raw, bench.scope, seq))
    if ([...chains, ...checkpoints].join().includes(bench.scope)) found += 1
    else missed.push(`${name} at #${seq}`)
  }
}
let clean = 0
for (let copy = 0; copy < PLACES; copy++) {
  const { chains, checkpoints } = await bench.verifyAfter(() => undefined)
  if (!chains.length && !checkpoints.length) clean += 1
}
bench.close()

const total = Object.keys(MUTATIONS).length * PLACES
process.stdout.write(`found ${found} of ${total}, passed ${clean} of ${PLACES} honest copies (seed ${seed})\n`)
for (const each of missed) process.stdout.write(`missed: ${each}\n`)
process.exit(found === total && clean === PLACES ? 0 : 1)
