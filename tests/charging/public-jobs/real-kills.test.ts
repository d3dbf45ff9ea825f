import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLong } from '../../support/long'
import { createMigratedDatabase, postgresUrl } from '../../support/store'
import { runRealKills } from './real-kills'

const [JOBS, KILLS] = isLong ? [24, 3] : [12, 2]

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
    jobs: JOBS,
    kills: KILLS,
    killEveryMs: 2_000,
    seed: 5,
  })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(KILLS)
  expect(report.completed + report.inDoubt + report.givenUp).toBe(JOBS)
}, 900_000)
