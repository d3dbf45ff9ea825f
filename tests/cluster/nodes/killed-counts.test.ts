import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient, SQL } from 'bun'
import { eventually } from '../../support/eventually'
import { hasRedis, startRedis } from '../../support/redis'
import { devKeyOf, type ServerProcess, startServerProcess } from '../../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../../support/store'

const can = hasRedis('limits of nodes that are killed') && postgresUrl !== undefined
if (!postgresUrl)
  process.stdout.write('NOT RUN: limits of nodes that are killed, because SVC_TEST_POSTGRES_URL is not set.\n')

const LIMIT = 40
/** Of each node that is gone others do not know so much of what it let in, so they take it for used. */
const UNWRITTEN = 2
const root = mkdtempSync(join(tmpdir(), 'svc-killed-counts-'))
const [database, redis] = can ? await Promise.all([createMigratedDatabase(postgresUrl!), startRedis()]) : []
const folders = ['one', 'other'].map((name) => join(root, name)) as [string, string]
const nodes: ServerProcess[] = []

const boot = async (at: 0 | 1): Promise<ServerProcess> => {
  const env = { SVC_DATABASE_URL: database!.url, SVC_REDIS_URL: redis!.url }
  nodes[at] = await startServerProcess({ dataDir: folders[at], env })
  return nodes[at]
}

if (can) {
  await boot(0)
  mkdirSync(folders[1], { mode: 0o700 })
  copyFileSync(join(folders[0], 'secrets.json'), join(folders[1], 'secrets.json'))
  await boot(1)
}
afterAll(async () => {
  for (const node of nodes) await node.kill()
  await redis?.stop()
  await database?.drop()
  rmSync(root, { recursive: true, force: true })
})

type Key = { id: string; key: string }

const newKey = async (): Promise<Key> => {
  const response = await fetch(`${nodes[0]!.url}/api/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${devKeyOf(folders[0])}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'counted', rpm_limit: LIMIT, scopes: ['completions'] }),
  })
  return (await response.json()) as Key
}

/** How many of so many requests of a key, all at once, a node let in. */
const letIn = async ({ url }: ServerProcess, { key }: Key, times: number): Promise<number> => {
  const ask = async () =>
    (await fetch(`${url}/api/v1/rate-limits`, { headers: { authorization: `Bearer ${key}` } })).status
  const all = await Promise.all(Array.from({ length: times }, ask))
  expect(all.every((status) => status === 200 || status === 429)).toBe(true)
  return all.filter((status) => status === 200).length
}

const flush = async (): Promise<void> => {
  const client = new RedisClient(redis!.url)
  await client.send('FLUSHALL', [])
  client.close()
}

/** What was let in is in the database a moment later. */
const kept = ({ id }: Key, requests: number) =>
  eventually(async () => {
    const client = new SQL(database!.url)
    const [row] = await client`
      SELECT sum(weight)::int AS sum FROM rate_counts WHERE name = 'requests' AND subject = ${id}`
    await client.close()
    return row.sum === requests
  })

describe.skipIf(!can)('a limit holds where Redis forgets and nodes are killed in the same minute', () => {
  test('emptied, and the node that let in all of it is killed', async () => {
    const key = await newKey()
    const [one, two] = nodes as [ServerProcess, ServerProcess]
    expect(await letIn(two, key, LIMIT)).toBe(LIMIT)
    await kept(key, LIMIT)
    await two.kill()
    await flush()
    expect(await letIn(one, key, LIMIT)).toBe(0)
    expect(await letIn(await boot(1), key, LIMIT)).toBe(0)
  })

  test('emptied just when a node is killed under calls of many keys', async () => {
    const keys = await Promise.all(Array.from({ length: 12 }, newKey))
    const sums = keys.map(() => 0)
    const two = nodes[1]!
    const asking = keys.map(async ({ key }, at) => {
      for (;;) {
        const path = `${two.url}/api/v1/rate-limits`
        const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } }).catch(() => null)
        if (response?.status !== 200) return
        sums[at]! += 1
      }
    })
    await eventually(() => sums.every((sum) => sum > LIMIT / 4))
    await two.kill()
    await flush()
    await Promise.all(asking)
    await boot(1)
    for (const node of nodes)
      await Promise.all(keys.map(async (key, at) => (sums[at]! += await letIn(node, key, LIMIT))))
    for (const sum of sums) expect(sum).toBeLessThanOrEqual(LIMIT)
  })

  test('every node is killed and started again, and Redis with them', async () => {
    const key = await newKey()
    expect((await Promise.all(nodes.map((node) => letIn(node, key, 15)))).reduce((a, b) => a + b)).toBe(30)
    await kept(key, 30)
    for (const node of nodes) await node.kill()
    await redis!.kill()
    await redis!.start()
    for (const at of [0, 1] as const) await boot(at)
    let sum = 30
    // The leases of the killed ones must end before others are sure to hear all.
    await eventually(
      async () => {
        for (const node of nodes) sum += await letIn(node, key, 5)
        return sum >= LIMIT - 4 * UNWRITTEN
      },
      Boolean,
      30_000,
    )
    for (const node of nodes) sum += await letIn(node, key, LIMIT)
    expect(sum).toBeLessThanOrEqual(LIMIT)
  })

  test('without Redis, one node after the other', async () => {
    const key = await newKey()
    await redis!.kill()
    let sum = 0
    for (const at of [0, 1, 0, 1] as const) {
      sum += await letIn(nodes[at]!, key, LIMIT)
      await kept(key, sum)
      await nodes[at]!.kill()
      await boot(at)
    }
    expect(sum).toBeGreaterThanOrEqual(LIMIT / 3)
    expect(sum).toBeLessThanOrEqual(LIMIT)
    await redis!.start()
    for (const node of nodes) sum += await letIn(node, key, LIMIT)
    expect(sum).toBeLessThanOrEqual(LIMIT)
  })
})
