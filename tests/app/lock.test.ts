import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataDir } from '../../src/app/lock'
import { temporaryFolder } from '../support/temporary-folder'

const dataDir = temporaryFolder('svc-lock-')

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
