import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../support/eventually'
import { freePort } from '../../support/free-port'
import { cleanEnv, type ServerProcess, spawnServer, startServerProcess } from '../../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../../support/store'

if (!postgresUrl) process.stdout.write('NOT RUN: a node that is drained, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl)('an operator lists the nodes, and drains one while the other serves', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-drained-node-'))
  const database = await createPostgresDatabase(postgresUrl!)
  const env = { SVC_DATABASE_URL: database.url }
  const started: Pick<ServerProcess, 'kill'>[] = []
  afterAll(async () => {
    for (const node of started) await node.kill()
    await database.drop()
    rmSync(root, { recursive: true, force: true })
  })
  const [home, other] = ['one', 'other'].map((name) => join(root, name)) as [string, string]
  const api = await startServerProcess({ dataDir: home, env })
  started.push(api)
  mkdirSync(other, { mode: 0o700 })
  copyFileSync(join(home, 'secrets.json'), join(other, 'secrets.json'))
  const healthPort = await freePort()
  const work = { ...env, SVC_ROLES: 'jobs,deliveries', SVC_HEALTH_PORT: String(healthPort) }
  started.push(await spawnServer({ dataDir: other, env: work }))
  const health = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${healthPort}/health`).catch(() => null))?.status ?? 0
  const command = async (...words: string[]) => {
    const child = Bun.spawn([process.execPath, 'cli/main.ts', ...words, '--json', '--data-dir', home], {
      env: cleanEnv(env),
      stderr: 'pipe',
    })
    const [text, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, error, value: text ? JSON.parse(text) : null }
  }
  const nodes = async () => (await command('nodes', 'list')).value as Record<string, unknown>[]

  await eventually(health, (status) => status === 200)
  expect((await fetch(`http://127.0.0.1:${healthPort}/api/v1/models`)).status).toBe(404)
  const both = await eventually(nodes, (found) => found.length === 2 && found.every(({ host }) => host !== null))
  const [first, worker] = both as [Record<string, unknown>, Record<string, unknown>]
  expect(first).toMatchObject({ status: 'serving', address: api.url, roles: ['api', 'jobs', 'deliveries', 'browser'] })
  expect(worker).toMatchObject({ status: 'serving', address: null, roles: ['jobs', 'deliveries'] })
  for (const name of ['load', 'lag_ms', 'connections', 'jobs', 'clock_ahead_ms', 'pid'])
    expect(worker[name]).toBeNumber()

  const id = String(worker.id)
  expect(await command('nodes', 'drain', id)).toMatchObject({ code: 0, value: { id, status: 'empty' } })
  await eventually(health, (status) => status === 503)
  expect((await fetch(`${api.url}/api/v1/health`)).status).toBe(200)
  expect((await command('nodes', 'get', id.slice(0, 6))).value).toMatchObject({ id, status: 'empty' })
  expect((await command('nodes', 'get', 'nobody')).code).toBe(3)

  expect((await command('nodes', 'drain', id, '--undo')).value).toMatchObject({ status: 'serving', drain_at: null })
  await eventually(health, (status) => status === 200)
})
