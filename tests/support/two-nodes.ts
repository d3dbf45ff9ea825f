import { afterAll } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from './server-process'
import { createPostgresDatabase, postgresUrl } from './store'

/** Settings and program of the second node, where they differ. */
type Other = { env?: Record<string, string>; command?: string[] }

/** Two processes with one database and one set of secrets, and their folders; both end after the tests. */
export async function startTwoNodes(more: Record<string, string>, { env: own = {}, ...program }: Other = {}) {
  const root = mkdtempSync(join(tmpdir(), 'svc-two-nodes-'))
  const database = await createPostgresDatabase(postgresUrl!)
  const env = { SVC_DATABASE_URL: database.url, ...more }
  const nodes: ServerProcess[] = []
  afterAll(async () => {
    for (const node of nodes) await node.kill()
    await database.drop()
    rmSync(root, { recursive: true, force: true })
  })
  const [home, away] = ['one', 'other'].map((name) => join(root, name)) as [string, string]
  nodes.push(await startServerProcess({ dataDir: home, env }))
  mkdirSync(away, { mode: 0o700 })
  copyFileSync(join(home, 'secrets.json'), join(away, 'secrets.json'))
  nodes.push(await startServerProcess({ dataDir: away, env: { ...env, ...own }, ...program }))
  const [one, other] = nodes as [ServerProcess, ServerProcess]
  return { one, other, home, away, databaseUrl: database.url }
}
