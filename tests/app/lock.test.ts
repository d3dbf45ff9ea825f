import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from '../../src/app/lock'

const dataDir = mkdtempSync(join(tmpdir(), 'svc-lock-'))
afterAll(() => rmSync(dataDir, { recursive: true }))

test('a data folder has one holder at a time, and the second learns who the first is', () => {
  const first = lockDataDir(dataDir)
  expect(() => lockDataDir(dataDir)).toThrow(
    `Another server (pid ${process.pid}) is using ${dataDir}. Stop it first, or give this one another SVC_DATA_DIR.`,
  )
  first.release()
  lockDataDir(dataDir).release()
})

test('a lock that cannot be written is not taken for another server', () => {
  const folder = join(dataDir, 'broken')
  mkdirSync(join(folder, 'server.lock'), { recursive: true })
  expect(() => lockDataDir(folder)).toThrow('unable to open database file')
})

test('a holder that was refused leaves nothing behind that would refuse the next', () => {
  const first = lockDataDir(dataDir)
  for (let tried = 0; tried < 3; tried++) expect(() => lockDataDir(dataDir)).toThrow()
  first.release()
  lockDataDir(dataDir).release()
})
