import { afterAll, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { connectRedis } from '../../src/app/redis'
import { systemClock } from '../../src/kernel/clock'
import { eventually } from '../support/eventually'
import { hasRedis, startRedis } from '../support/redis'
import { createWorld } from '../support/world'

const can = hasRedis('a Redis that answers')
const server = can ? await startRedis() : null
const quiet = { clock: systemClock, onChange: () => undefined }
afterAll(() => server?.stop())

test('a configured Redis is checked with a real command', async () => {
  const url = server?.url ?? 'redis://127.0.0.1:1'
  const { body } = await (await createWorld({ config: { redisUrl: url } })).send('GET', 'health')
  expect(body.infrastructure.redis.status).toBe(server ? 'healthy' : 'down')
})

test('a Redis that is away leaves the server degraded, not down (I-10)', async () => {
  const world = await createWorld({ config: { redisUrl: 'redis://127.0.0.1:1' } })
  const { status, body } = await world.send('GET', 'health')
  expect(status).toBe(200)
  expect(body.status).toBe('degraded')
  expect(body.infrastructure.redis.status).toBe('down')
})

test('without one it says unconfigured', async () => {
  const { body } = await (await createWorld()).send('GET', 'health')
  expect(body.infrastructure.redis).toEqual({ status: 'unconfigured', latencyMs: null })
})

test.skipIf(!can)('tells by which policy it removes what has not ended, if it may', async () => {
  const link = connectRedis(server!.url, quiet)!
  const raw = new RedisClient(server!.url)
  const set = async (limit: string, policy: string) => {
    await raw.send('CONFIG', ['SET', 'maxmemory', limit])
    await raw.send('CONFIG', ['SET', 'maxmemory-policy', policy])
  }
  await set('0', 'allkeys-lru')
  expect(await link.evicts()).toBeNull()
  await set('100mb', 'allkeys-lru')
  expect(await link.evicts()).toBe('allkeys-lru')
  await set('100mb', 'noeviction')
  expect(await link.evicts()).toBeNull()
  raw.close()
  link.close()
})

test.skipIf(!can)('carries what processes tell each other', async () => {
  const { url } = server!
  const [one, other] = [connectRedis(url, quiet)!, connectRedis(url, quiet)!]
  const heard: string[] = []
  const leave = await other.wire.hear(
    (text) => heard.push(text),
    () => heard.push('again'),
  )
  await one.wire.send('hello')
  await eventually(() => heard.length === 2)
  expect({ heard, hearing: other.wire.hearing() }).toEqual({ heard: ['again', 'hello'], hearing: true })
  await leave()
  expect(other.wire.hearing()).toBe(false)
  one.close()
  other.close()
})
