import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { assertWorkers, type ConfigOverrides, loadConfig } from '../../src/app/config'
import { findPostgres } from '../run/postgres'
import { eventually } from '../support/eventually'
import { hasRedis, startRedis } from '../support/redis'
import { startServerProcess } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-workers-')

describe('several processes on one port', () => {
  const whole = { workers: 2, databaseUrl: 'postgres://one/two', redisUrl: 'redis://one' }
  const missing = (config: ConfigOverrides, platform: NodeJS.Platform = 'linux') => {
    const check = () => assertWorkers(loadConfig({ dataDir: root, ...config }), platform)
    return expect(check)
  }

  test('are refused with the name of what they lack', () => {
    missing({ workers: 1 }).not.toThrow()
    missing(whole).not.toThrow()
    missing({ workers: 2 }).toThrow('also need Postgres (SVC_DATABASE_URL), Redis (SVC_REDIS_URL). Add it')
    missing({ ...whole, redisUrl: '' }).toThrow('also need Redis (SVC_REDIS_URL)')
    missing(whole, 'darwin').toThrow('also need Linux')
    missing({ ...whole, unix: join(root, 'socket') }).toThrow('a port instead of a socket')
    missing({ ...whole, roles: 'jobs' }).toThrow('the role api')
  })
})

const isHere = hasRedis('two processes on one port') && process.platform === 'linux'
const postgres = isHere ? await findPostgres() : { missing: 'there is no Redis' }
if ('missing' in postgres) process.stdout.write(`NOT RUN: two processes on one port, because ${postgres.missing}\n`)

describe.skipIf('missing' in postgres)('two processes on one port', () => {
  if ('missing' in postgres) return
  const sql = new SQL(postgres.url)
  const name = `workers_${process.pid}`
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis()
    await sql.unsafe(`create database ${name}`)
  })
  afterAll(async () => {
    await sql.unsafe(`drop database ${name} with (force)`)
    await sql.close()
    await redis.stop()
    await postgres.stop()
  })

  const childrenOf = (pid: number): number[] =>
    Bun.spawnSync(['ps', '-o', 'pid=,args=', '--ppid', String(pid)])
      .stdout.toString()
      .split('\n')
      .filter((line) => line.includes('main.ts'))
      .map((line) => Number.parseInt(line, 10))
  const isAlive = (pid: number) => {
    try {
      process.kill(pid, 0)
      return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
    } catch {
      return false
    }
  }
  const serving = async (): Promise<number> => {
    const url = new URL(postgres.url)
    url.pathname = `/${name}`
    const database = new SQL(url.href)
    const [row] =
      await database`select count(*)::int as count from nodes where roles <> '' and lease_until > (extract(epoch from clock_timestamp()) * 1000)::bigint`
    await database.close()
    return row.count
  }

  test('answer together, a killed one is replaced, and all end with the first', async () => {
    const dataDir = join(root, 'data')
    const databaseUrl = new URL(postgres.url)
    databaseUrl.pathname = `/${name}`
    const env = { SVC_WORKERS: '2', SVC_DATABASE_URL: databaseUrl.href, SVC_REDIS_URL: redis.url }
    const server = await startServerProcess({ dataDir, env })
    const key = readFileSync(join(dataDir, 'dev-key'), 'utf8').trim()
    const ask = async () => {
      // Without keep-alive each is a new connection, which goes to either process.
      const headers = { authorization: `Bearer ${key}`, connection: 'close' }
      const all = Array.from({ length: 30 }, () => fetch(`${server.url}/api/v1/models`, { headers }))
      const replies = await Promise.all(all.map((reply) => reply.catch(() => null)))
      return replies.flatMap((reply) => (reply ? [reply.status] : []))
    }
    await eventually(async () => (await serving()) === 2)
    const [first] = childrenOf(server.pid)
    expect(new Set(await ask())).toEqual(new Set([200]))
    process.kill(first!, 'SIGKILL')
    await eventually(() => childrenOf(server.pid).some((pid) => pid !== first))
    await eventually(async () => (await ask()).filter((status) => status === 200).length === 30)
    const [second] = childrenOf(server.pid)
    expect(await server.stop()).toBe(0)
    expect(isAlive(second!)).toBe(false)
  }, 120_000)

  test('the others end when the first is killed', async () => {
    const dataDir = join(root, 'data')
    const databaseUrl = new URL(postgres.url)
    databaseUrl.pathname = `/${name}`
    const env = { SVC_WORKERS: '2', SVC_DATABASE_URL: databaseUrl.href, SVC_REDIS_URL: redis.url }
    const server = await startServerProcess({ dataDir, env })
    await eventually(() => childrenOf(server.pid).length === 1)
    await eventually(async () => (await serving()) >= 2)
    const [worker] = childrenOf(server.pid)
    process.kill(server.pid, 'SIGKILL')
    await eventually(() => !isAlive(worker!))
  }, 120_000)
})
