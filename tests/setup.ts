import { tmpdir } from 'node:os'
import { isInScratch, makeScratch } from './support/scratch'

process.env.NODE_ENV = 'test'

// Test files that run without `tests/run.ts` get their temporary folder here.
if (!isInScratch()) {
  process.env.TMPDIR = makeScratch(tmpdir())
  // Bun gives processes the environment that it was started with itself; they must get this one.
  const { spawn, spawnSync } = Bun
  const withEnv =
    (start: (first: object, second?: object) => unknown) =>
    (first: object, second: object = {}) =>
      Array.isArray(first) ? start(first, { env: process.env, ...second }) : start({ env: process.env, ...first })
  Object.assign(Bun, { spawn: withEnv(spawn as never), spawnSync: withEnv(spawnSync as never) })
}
