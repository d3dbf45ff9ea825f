/**
 * What a call, and a node without calls, cost Postgres, Redis and the node: two nodes on one machine, paid calls 16 at
 * a time and one at a time, less what the nodes cost without them. `bun run bench cluster [--calls N]`. Counts hold for
 * any machine, times only for this one.
 */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RedisClient, SQL } from 'bun'
import { ownPostgres } from '../run/postgres'
import { startRedis } from '../support/redis'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { processOf } from './processor'
import { benchFolder, print } from './setup'

const { values } = parseArgs({ options: { calls: { type: 'string' } } })
const CALLS = Number(values.calls ?? 8_000)
/** No call is refused. */
const TIERS = JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } })
const IDLE_MS = 20_000
/** A backend without work writes its counts after ten seconds. */
const SETTLED_MS = 11_000

const postgres = await ownPostgres()
if ('missing' in postgres) throw new Error(postgres.missing)
const [redis, upstream] = [await startRedis(), await startUpstream()]
const root = benchFolder('cluster')
const [client, sql] = [new RedisClient(redis.url), new SQL(postgres.url, { max: 1 })]
const nodes: ServerProcess[] = []
/** What all nodes cost in a second without calls. */
const idle = { transactions: 0, postgresMs: 0, scripts: 0, commands: 0, redisMs: 0, nodeMs: 0 }
const NAMES = Object.keys(idle) as (keyof typeof idle)[]
try {
  const env = {
    ...{ SVC_DATABASE_URL: postgres.url, SVC_REDIS_URL: redis.url, SVC_CACHE_ENABLED: '0' },
    ...{ SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'scripted', SVC_TIERS: TIERS },
  }
  const homes = ['one', 'other'].map((name) => join(root, name)) as [string, string]
  nodes.push(await startServerProcess({ dataDir: homes[0], env }))
  mkdirSync(homes[1], { mode: 0o700 })
  cpSync(join(homes[0], 'secrets.json'), join(homes[1], 'secrets.json'))
  nodes.push(await startServerProcess({ dataDir: homes[1], env }))
  const key = devKeyOf(homes[0])
  await calls(key, 500, 16)
  await measured('without calls, a node and second', nodes.length, () => Bun.sleep(IDLE_MS), true)
  await measured('16 at a time, a call', CALLS, () => calls(key, CALLS, 16))
  await measured('one at a time, a call', CALLS / 10, () => calls(key, CALLS / 10, 1))
} finally {
  for (const node of nodes) await node.kill()
  client.close()
  await sql.close()
  await redis.stop()
  await upstream.stop()
  await postgres.stop()
}

async function calls(key: string, count: number, atOnce: number): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let sent = 0
  const ask = async () => {
    while (sent < count) {
      const node = nodes[sent++ % nodes.length]!
      const body = JSON.stringify({ prompt: `What is ${sent} plus ${count}?`, mode: 'fast', conversation_id: null })
      const response = await fetch(`${node.url}/api/v1/completions`, { method: 'POST', headers, body })
      await response.text()
      if (!response.ok) throw new Error(`answered ${response.status}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
}

/** Prints what passes while `work` runs, over `count`: in a second where it `isIdle`, else beyond that. */
async function measured(what: string, count: number, work: () => Promise<unknown>, isIdle = false): Promise<void> {
  const before = await totals()
  await work()
  const after = await totals()
  const seconds = (after.at - before.at) / 1_000
  const of = (name: keyof typeof idle) => after[name] - before[name]
  if (isIdle) for (const name of NAMES) idle[name] = of(name) / seconds
  const each = (name: keyof typeof idle) => ((isIdle ? idle[name] : of(name) - idle[name] * seconds) / count).toFixed(2)
  const now = await connections()
  print(
    `${what}: ${each('transactions')} transactions, ${each('postgresMs')} ms of Postgres; ${each('scripts')} scripts, ` +
      `${each('commands')} commands, ` +
      `${each('redisMs')} ms of Redis; ${each('nodeMs')} ms of the node; ${now.postgres} and ${now.redis} connections`,
  )
}

async function totals() {
  await Bun.sleep(SETTLED_MS)
  const [[row], cpu, stats] = await Promise.all([
    sql`SELECT xact_commit + xact_rollback AS total, pg_backend_pid() AS pid FROM pg_stat_database
      WHERE datname = current_database()`,
    client.send('INFO', ['cpu']) as Promise<string>,
    client.send('INFO', ['commandstats']) as Promise<string>,
  ])
  const numbers = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((sum, [, found]) => sum + Number(found), 0)
  return {
    at: performance.now(),
    transactions: Number(row.total),
    postgresMs: postgresMs(Number(row.pid)),
    scripts: numbers(stats, /cmdstat_eval(?:sha)?:calls=(\d+)/g),
    commands: numbers(stats, /cmdstat_[^:]+:calls=(\d+)/g),
    redisMs: numbers(cpu, /^used_cpu_(?:sys|user):([\d.]+)/gm) * 1_000,
    nodeMs: nodes.reduce((sum, { pid }) => sum + processOf(pid).ms, 0),
  }
}

async function connections() {
  const [row] = await sql`SELECT count(*)::int AS total FROM pg_stat_activity WHERE backend_type = 'client backend'`
  const clients = (await client.send('INFO', ['clients'])) as string
  return { postgres: row.total - 1, redis: Number(/connected_clients:(\d+)/.exec(clients)![1]) - 1 }
}

/** All processes of the server to which this backend belongs, with those that have ended. */
function postgresMs(backend: number): number {
  const { parent } = processOf(backend)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = pids.flatMap((pid) => {
    try {
      const found = processOf(pid)
      return found.parent === parent ? [found.ms] : []
    } catch {
      return []
    }
  })
  const own = processOf(parent)
  return children.reduce((sum, ms) => sum + ms, own.ms + own.endedMs)
}
