import { expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually'
import { isLong } from '../../support/long'
import { devKeyOf, startServerProcess } from '../../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../../support/store'
import { temporaryFolder } from '../../support/temporary-folder'

const root = temporaryFolder('svc-documents-')

/** Takes seconds to lay out. */
const ROWS = Array.from({ length: 4_000 }, (_, n) => `cell ${n},value ${n * 7},${n}`).join('\n')

if (!isLong) process.stdout.write('NOT RUN: a document whose process is killed, which test:long tries.\n')

test.skipIf(!isLong)(
  'a document whose process is killed while it is laid out gets its file from another, once',
  async () => {
    const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
    const boot = (name: string) =>
      startServerProcess({
        dataDir: join(root, database ? name : 'data'),
        env: {
          SVC_DOCUMENT_WAIT_SECONDS: '0',
          SVC_JOB_LEASE_SECONDS: '10',
          SVC_FILES_DIR: join(root, 'files'),
          ...(database ? { SVC_DATABASE_URL: database.url } : {}),
        },
      })
    const first = await boot('a')
    const key = devKeyOf(join(root, database ? 'a' : 'data'))
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ prompt: `Make a report of this:\n\nName,Value,Number\n${ROWS}`, format: 'docx' })
    const made = await (await fetch(`${first.url}/api/v1/documents`, { method: 'POST', headers, body })).json()
    expect(made.download_url).toBeNull()
    await first.kill()
    if (database) {
      mkdirSync(join(root, 'b'), { mode: 0o700 })
      cpSync(join(root, 'a', 'secrets.json'), join(root, 'b', 'secrets.json'))
    }
    const next = await boot(database ? 'b' : 'a')
    try {
      const read = async (path: string) => (await fetch(`${next.url}/api/v1/${path}`, { headers })).json()
      const done = await eventually(
        () => read(`documents/${made.id}`),
        ({ download_url: url }) => url !== null,
      )
      expect(done.warnings).toBeUndefined()
      expect({ ...done, download_url: null, size_bytes: null, request_id: '' }).toEqual({ ...made, request_id: '' })
      const { pathname, search } = new URL(done.download_url)
      expect((await (await fetch(`${next.url}${pathname}${search}`)).arrayBuffer()).byteLength).toBe(done.size_bytes)
      expect((await read('usage')).totals.requests).toBe(1)
    } finally {
      await next.kill()
      await database?.drop()
    }
  },
  180_000,
)
