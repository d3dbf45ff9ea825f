/**
 * `bun run prove model [--sequences N] [--seed N] [--workers N]`: docs/promises.md I45 in full, 20,000 sequences of
 * fifty steps unless said. Each worker has stores of its own, in memory where the machine has such a folder: what a
 * disk keeps is another proof's. The seed makes a run again. Exits 1 with the shortest sequence that disagrees.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate, openSqlite } from '../../src/kernel/store'
import { fastestParent, makeScratch } from '../support/scratch'
import { simulate } from './simulate'
import { createWorld } from './world'

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.max(2, availableParallelism())) },
  },
})
const [sequences, seed, workers] = [Number(values.sequences), Number(values.seed), Number(values.workers)]
/** A store is begun anew after so many, so that each sequence costs the same. */
const A_STORE = 250
const scratch = makeScratch(fastestParent())
const print = (line: string) => void process.stdout.write(`${line}\n`)

if (workers > 1) await spread()
else await prove()

/** Every worker a part of the sequences, with seeds that no other has. */
async function spread(): Promise<void> {
  const began = performance.now()
  const share = Math.ceil(sequences / workers / A_STORE) * A_STORE
  const parts = Array.from({ length: workers }, (_, n) => ({
    from: seed + n * share,
    count: Math.max(0, Math.min(share, sequences - n * share)),
  })).filter(({ count }) => count > 0)
  const codes = await Promise.all(
    parts.map(({ from, count }) => {
      const words = ['--sequences', String(count), '--seed', String(from), '--workers', '1']
      return Bun.spawn([process.execPath, import.meta.path, ...words], { stdio: ['ignore', 'inherit', 'inherit'] })
        .exited
    }),
  )
  if (codes.some((code) => code !== 0)) process.exit(1)
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  print(`prove model seed ${seed}: ${sequences} sequences of 50 steps in ${seconds} s, every one as the model says`)
}

async function prove(): Promise<void> {
  for (let done = 0; done < sequences; done += A_STORE) {
    await proveOnOneStore(Math.min(A_STORE, sequences - done), seed + done)
    if ((done / A_STORE) % 10 === 9) print(`  ${done + A_STORE} of ${sequences} sequences from ${seed} agree`)
  }
}

async function proveOnOneStore(count: number, from: number): Promise<void> {
  const folder = mkdtempSync(join(scratch, 'store-'))
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
  const store = openSqlite({
    path,
    onDiskFailure: (error) => {
      throw error
    },
  })
  try {
    await simulate(store, count, from)
    const violations = await createWorld(store).verify()
    if (violations.length) throw new Error(violations.join('\n'))
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
