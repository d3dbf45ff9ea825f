import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigOverrides, loadConfig, takesJobs } from '../../src/app/config'
import { loadSecrets } from '../../src/app/secrets'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { eventually } from '../support/eventually'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-roles-')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
let folders = 0
if (!postgresUrl) process.stdout.write('NOT RUN: roles of two processes, because SVC_TEST_POSTGRES_URL is not set.\n')
else process.stdout.write('NOT RUN: a socket in place of the port, because it is the same on SQLite.\n')

function startIn(dataDir: string, more: ConfigOverrides) {
  return start({ config: loadConfig({ dataDir, port: 0, production: false, ...more }), log })
}

function folder(): string {
  const dataDir = join(root, `data-${++folders}`)
  mkdirSync(dataDir, { mode: 0o700 })
  return dataDir
}

describe('roles of a process', () => {
  test('say which kinds of jobs it takes', () => {
    const takes = (roles: string) =>
      ['webhooks.steady', 'webhooks.slow', 'webhooks.tidy', 'research'].map(takesJobs({ roles }))
    expect(takes('api')).toEqual([false, false, false, false])
    expect(takes('deliveries')).toEqual([true, true, false, false])
    expect(takes('api,jobs')).toEqual([false, false, true, true])
  })

  test('are refused where no other process could do the rest', () => {
    const read = (roles: string, databaseUrl = '') => loadConfig({ dataDir: root, roles, databaseUrl })
    expect(() => read('api,browser')).toThrow('SVC_ROLES leaves out jobs and deliveries')
    expect(read('api,jobs,deliveries').browserPath).toBe('off')
    expect(read('jobs', 'postgres://one/two').roles).toBe('jobs')
  })

  test.skipIf(!postgresUrl)(
    'two processes share a Postgres: one takes the order, the other begins the work',
    async () => {
      const { url: databaseUrl, drop } = await createPostgresDatabase(postgresUrl!)
      afterAll(drop)
      const [first, second] = [folder(), folder()]
      copyFileSync(loadSecrets(first).path, join(second, 'secrets.json'))
      const api = await startIn(first, { databaseUrl, roles: 'api' })
      const headers = { authorization: `Bearer ${api.seed!.key}`, 'content-type': 'application/json' }
      const ask = async (path: string, body?: object) => {
        const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {}
        return (await fetch(`${api.url}/api/v1${path}`, { headers, ...sent })).json() as Promise<Record<string, never>>
      }
      const { job_id } = await ask('/video', { prompt: 'a red square', duration_seconds: 1 })
      expect(await api.app.container.jobs.runDue()).toBe(0)
      expect(await ask(`/jobs/${job_id}`)).toMatchObject({ status: 'queued' })
      const worker = await startIn(second, { databaseUrl, roles: 'jobs,deliveries' })
      try {
        expect(worker.url).toBe('')
        // Each has files in its own data folder.
        expect(worker.app.container.nodes.hasScatteredFiles()).toBe(true)
        await eventually(async () => (await ask(`/jobs/${job_id}`)).status !== 'queued')
      } finally {
        await worker.stop()
        await api.stop()
      }
    },
  )
})

// SQLite only: how the API is listened for.
test.skipIf(postgresUrl !== undefined)('a socket takes the place of the port, and goes with the server', async () => {
  const dataDir = folder()
  const unix = join(root, 'api.sock')
  writeFileSync(unix, 'something else')
  await expect(startIn(folder(), { unix })).rejects.toThrow('not a socket')
  rmSync(unix)
  const server = await startIn(dataDir, { unix })
  try {
    expect(statSync(unix).mode & 0o777).toBe(0o660)
    expect((await fetch('http://localhost/api/v1/health', { unix })).status).toBe(200)
    const headers = { authorization: `Bearer ${server.seed!.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ prompt: 'What is 17 * 23?' })
    const answer = await fetch('http://localhost/api/v1/completions', { unix, method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({ content: expect.stringContaining('391') })
  } finally {
    await server.stop()
  }
  expect(existsSync(unix)).toBe(false)
})
