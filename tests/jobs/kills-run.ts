/**
 * `bun run prove jobs [--jobs=2000] [--workers=4] [--kill-every=2000] [--seed=1]`: workers killed while they work
 * through a queue, on SQLite (one at a time) and on Postgres. Exits 1 on a job that is lost, fails or has its effect
 * twice.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres } from '../run/postgres'
import { copyMigratedFile, createMigratedDatabase } from '../support/store'
import { runJobKills } from './kills'

const option = (name: string, fallback: number): number =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
const input = {
  jobs: option('jobs', 2_000),
  killEveryMs: option('kill-every', 2_000),
  apart: 1,
  seed: option('seed', 1),
}
const workers = option('workers', 4)
let problems = 0

const folder = mkdtempSync(join(tmpdir(), 'svc-jobs-'))
const path = join(folder, 'svc.db')
await copyMigratedFile(path)
report('SQLite', await runJobKills({ ...input, workers: 1, place: { dialect: 'sqlite', path } }))
rmSync(folder, { recursive: true, force: true })

const found = await findPostgres()
if ('missing' in found) process.stdout.write(`Postgres: NOT RUN, ${found.missing}\n`)
else {
  const database = await createMigratedDatabase(found.url)
  report('Postgres', await runJobKills({ ...input, workers, place: { dialect: 'postgres', url: database.url } }))
  await database.drop()
  await found.stop()
}
process.exit(problems ? 1 : 0)

function report(where: string, { jobs, kills, problems: list }: Awaited<ReturnType<typeof runJobKills>>): void {
  process.stdout.write(`${where}: ${jobs} jobs, ${kills} kills, ${list.length} problems\n`)
  for (const problem of list.slice(0, 20)) process.stdout.write(`  ${problem}\n`)
  problems += list.length
}
