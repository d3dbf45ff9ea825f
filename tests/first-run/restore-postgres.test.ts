import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { type Clone, cloneRepository } from './clone'
import { blockOf } from './readme'

const PATIENCE_MS = 120_000

/** A folder with pg_dump and pg_restore: Debian keeps those of the newest server off PATH. */
const tools = Bun.which('pg_dump')
  ? ''
  : (await Array.fromAsync(new Bun.Glob('/usr/lib/postgresql/*/bin').scan({ onlyFiles: false, absolute: true })))
      .sort()
      .find((folder) => existsSync(`${folder}/pg_dump`))
const isHere = postgresUrl !== undefined && tools !== undefined
if (postgresUrl && !isHere) process.stdout.write('pg_dump is not installed: restoring on Postgres is not tested\n')

let clone: Clone | null = null
afterAll(() => clone?.remove())

test.if(isHere)(
  'what the README dumps on Postgres comes back in another database, with its credit and its audit chain',
  async () => {
    const [from, to] = [await createPostgresDatabase(postgresUrl!), await createPostgresDatabase(postgresUrl!)]
    clone = await cloneRepository()
    const typed = async (url: string, dataDir: string, text: string) => {
      const env = `export SVC_DATABASE_URL='${url}' SVC_DATA_DIR=${dataDir} PATH="${tools}:$PATH"\n`
      const { exitCode, stdout, stderr } = await clone!.type(env + text)
      expect({ exitCode, stderr: exitCode ? stderr : '' }).toEqual({ exitCode: 0, stderr: '' })
      return stdout
    }
    try {
      await typed(from.url, 'one', `./svc-admin migrate up\n${blockOf('first-key')}`)
      await typed(from.url, 'one', blockOf('dump'))
      mkdirSync(clone.path('two'), { mode: 0o700 })
      copyFileSync(clone.path('one/secrets.json'), clone.path('two/secrets.json'))
      await typed(to.url, 'two', blockOf('restore'))
      await typed(to.url, 'two', './svc-admin verify')
      const balance = await typed(to.url, 'two', './svc-admin credits balance main --json')
      expect(JSON.parse(balance).available_cents).toBe(5_000)
    } finally {
      await from.drop()
      await to.drop()
    }
  },
  PATIENCE_MS,
)
