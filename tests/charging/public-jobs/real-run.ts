/**
 * `bun run prove makers [--jobs=2000] [--kills=60] [--kill-every=3000] [--seed=1] [--postgres=postgres://…]`: videos of
 * an upstream and researches, on servers that are killed again and again: one on SQLite, or two on one Postgres. Exits
 * 1 on a job that does not end, is charged or ordered twice, or whose files are kept twice.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMigratedDatabase } from '../../support/store'
import { runRealKills } from './real-kills'

const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const server = option('postgres')
const database = server === undefined ? null : await createMigratedDatabase(server)
const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-makers-'))
const began = performance.now()
const { problems, ...report } = await runRealKills({
  folder,
  url: database?.url ?? null,
  jobs: Number(option('jobs') ?? 2_000),
  kills: Number(option('kills') ?? 60),
  killEveryMs: Number(option('kill-every') ?? 3_000),
  seed: Number(option('seed') ?? 1),
})
const seconds = Math.round((performance.now() - began) / 1_000)
process.stdout.write(`${database ? 'Postgres' : 'SQLite'}: ${JSON.stringify(report)} in ${seconds} s\n`)
for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`)
await database?.drop()
rmSync(folder, { recursive: true, force: true })
process.exit(problems.length ? 1 : 0)
