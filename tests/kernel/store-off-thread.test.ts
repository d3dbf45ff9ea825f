import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runOffThread } from '../../src/kernel/store/off-thread'
import { slowness } from '../support/effort'
import { spentBy } from '../support/spent'
import { temporaryFolder } from '../support/temporary-folder'

const folder = temporaryFolder('svc-off-thread-')

/** Makes a database file of about so many megabytes; answers its path. */
function fileOf(megabytes: number): string {
  const path = join(folder, `${megabytes}.db`)
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE things (id INTEGER PRIMARY KEY, body BLOB)')
  database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${megabytes * 256})
     INSERT INTO things SELECT i, randomblob(4000) FROM n`,
  )
  database.close()
  return path
}

/** The longest time the event loop was blocked during `work`, without the time other processes took. */
async function longestPause(work: Promise<unknown>): Promise<number> {
  const now = () => performance.now() - spentBy('thread-self').queuedMs
  let [last, longest] = [now(), 0]
  const look = () => {
    longest = Math.max(longest, now() - last)
    last = now()
  }
  const timer = setInterval(look, 5)
  await work
  clearInterval(timer)
  look()
  return longest
}

describe('work off the event loop', () => {
  test('copies and checks a file of 100 MB while everything else goes on (I28)', async () => {
    const path = fileOf(100)
    const target = join(folder, 'copy.db')
    const limit = 200 * (await slowness())
    expect(await longestPause(runOffThread(path, { kind: 'backup', target }))).toBeLessThan(limit)
    expect(statSync(target).size).toBeGreaterThan(100 * 1000 * 1000)
    expect(await longestPause(runOffThread(target, { kind: 'integrity' }))).toBeLessThan(limit)
    expect(await runOffThread(target, { kind: 'integrity' })).toEqual([])
  }, 180_000)

  test('finds rows that break a foreign key', async () => {
    const path = fileOf(2)
    const database = new Database(path)
    database.run('CREATE TABLE parts (id INTEGER PRIMARY KEY, of INTEGER REFERENCES things (id))')
    database.run('INSERT INTO parts (of) VALUES (1), (999998), (999999)')
    expect(await runOffThread(path, { kind: 'integrity' })).toEqual(['2 rows break a foreign key'])
    database.run('DELETE FROM parts WHERE of > 1')
    expect(await runOffThread(path, { kind: 'integrity' })).toEqual([])
    database.close()
  })

  test('throws what the database threw', async () => {
    const path = fileOf(1)
    await expect(runOffThread(path, { kind: 'backup', target: path })).rejects.toThrow('already exists')
    await expect(runOffThread(join(folder, 'none.db'), { kind: 'integrity' })).rejects.toThrow('unable to open')
    const noDatabase = join(folder, 'no.db')
    writeFileSync(noDatabase, 'x'.repeat(10_000))
    await expect(runOffThread(noDatabase, { kind: 'integrity' })).rejects.toMatchObject({ code: 'SQLITE_NOTADB' })
  })
})
