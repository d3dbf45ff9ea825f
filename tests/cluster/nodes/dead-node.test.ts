import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../support/eventually'
import { devKeyOf, type ServerProcess, startServerProcess } from '../../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../../support/store'
import { startUpstream } from '../../support/upstream'

if (!postgresUrl) process.stdout.write('NOT RUN: a node that dies, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl)('what a killed node had on hold is given back by the node that is left', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-dead-node-'))
  const [database, upstream] = await Promise.all([createPostgresDatabase(postgresUrl!), startUpstream()])
  const env = { SVC_DATABASE_URL: database.url, SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'scripted' }
  const nodes: ServerProcess[] = []
  afterAll(async () => {
    for (const node of nodes) await node.kill()
    await upstream.stop()
    await database.drop()
    rmSync(root, { recursive: true, force: true })
  })
  const [home, other] = ['one', 'other'].map((name) => join(root, name)) as [string, string]
  nodes.push(await startServerProcess({ dataDir: home, env }))
  mkdirSync(other, { mode: 0o700 })
  copyFileSync(join(home, 'secrets.json'), join(other, 'secrets.json'))
  nodes.push(await startServerProcess({ dataDir: other, env }))
  const [dying, left] = nodes as [ServerProcess, ServerProcess]
  const headers = { authorization: `Bearer ${devKeyOf(home)}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ prompt: 'whole [[hang]]', mode: 'fast' })
  const request = fetch(`${dying.url}/api/v1/completions`, { method: 'POST', headers, body }).catch(() => null)
  await eventually(() => upstream.calls.some(({ prompt }) => prompt.includes('[[hang]]')))
  const interrupted = async () => {
    const response = await fetch(`${left.url}/api/v1/audit`, { headers })
    const events = (await response.json()) as { action: string; outputSummary: object }[]
    return events.filter(({ action }) => action === 'completion.interrupted')
  }
  expect(await interrupted()).toEqual([])

  await dying.kill()
  await request
  const [event] = await eventually(interrupted, (events) => events.length > 0)
  expect(event!.outputSummary).toMatchObject({ cost_cents: 0 })
})
