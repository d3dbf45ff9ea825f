/**
 * `bun run prove:model [--sequences N] [--seed N]`: I45 in full, 20,000 sequences of fifty steps unless said,
 * on a store of its own. The seed makes a run again. Exits 1 with the shortest sequence that disagrees.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate, openSqlite } from '../../src/kernel/store'
import { simulate } from './simulate'
import { createWorld } from './world'

const { values } = parseArgs({
  options: { sequences: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})
const [sequences, seed] = [Number(values.sequences), Number(values.seed)]
/** A store is begun anew after so many, so that each sequence costs the same. */
const A_STORE = 500
const print = (line: string) => void process.stdout.write(`${line}\n`)

const fail = (error: unknown): never => {
  throw error
}

for (let done = 0; done < sequences; done += A_STORE) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-model-'))
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
  const store = openSqlite({ path, onDiskFailure: fail })
  await simulate(store, Math.min(A_STORE, sequences - done), seed + done)
  const violations = await createWorld(store).verify()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  if (violations.length) throw new Error(violations.join('\n'))
  print(`  ${Math.min(done + A_STORE, sequences)} of ${sequences} sequences agree`)
}
print(`prove:model seed ${seed}: ${sequences} sequences of 50 steps, every one as the model says`)
