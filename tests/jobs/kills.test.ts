import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLong } from '../support/long'
import { copyMigratedFile, createMigratedDatabase, postgresUrl } from '../support/store'
import { runJobKills } from './kills'

const folder = mkdtempSync(join(tmpdir(), 'svc-jobs-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
if (!database) await copyMigratedFile(join(folder, 'svc.db'))
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** On SQLite one process works at a time, and is started again; on Postgres two share the queue. */
const place = database
  ? ({ dialect: 'postgres', url: database.url } as const)
  : ({ dialect: 'sqlite', path: join(folder, 'svc.db') } as const)

const JOBS = isLong ? 600 : 200

test('jobs end once each while workers are killed (I15)', async () => {
  const report = await runJobKills({
    place,
    jobs: JOBS,
    workers: database ? 2 : 1,
    killEveryMs: 0,
    apart: JOBS / 8,
    seed: 7,
  })
  expect(report.problems).toEqual([])
  expect(report.kills).toBeGreaterThan(1)
}, 300_000)
