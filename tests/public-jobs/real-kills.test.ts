import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { runRealKills } from './real-kills'

const folder = mkdtempSync(join(tmpdir(), 'svc-real-jobs-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('videos and researches whose servers are killed end, are charged once and keep their files once (I9, I15)', async () => {
  const report = await runRealKills({
    folder,
    url: database?.url ?? null,
    jobs: 24,
    kills: 3,
    killEveryMs: 2_000,
    seed: 5,
  })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(3)
  expect(report.completed + report.inDoubt + report.givenUp).toBe(24)
}, 900_000)
