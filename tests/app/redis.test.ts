import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectRedis } from '../../src/app/redis'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'

const binary = Bun.which('redis-server')
const folder = mkdtempSync(join(tmpdir(), 'svc-redis-'))
const port = 20_000 + (process.pid % 20_000)
const arguments_ = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
const server = binary ? Bun.spawn([binary, ...arguments_], { stdout: 'ignore' }) : null
if (!binary) process.stdout.write('redis-server is not installed: only its absence is tested\n')
afterAll(async () => {
  server?.kill()
  await server?.exited
  rmSync(folder, { recursive: true, force: true })
})

const untilUp = async (url: string) => {
  for (let tries = 0; tries < 200; tries++) {
    const redis = connectRedis(url)!
    const up = await redis.ping().then(
      () => true,
      () => false,
    )
    redis.close()
    if (up) return
    await Bun.sleep(20)
  }
}

test('a configured Redis is asked for real', async () => {
  const url = `redis://127.0.0.1:${port}`
  if (server) await untilUp(url)
  const world = await createWorld({ config: { redisUrl: url } })
  const { body } = await world.send('GET', 'health')
  expect(body.infrastructure.redis.status).toBe(server ? 'healthy' : 'down')
})

test('a Redis that is away leaves the server degraded, not down, and the limits in the database (I-10)', async () => {
  const world = await createWorld({ config: { redisUrl: 'redis://127.0.0.1:1' } })
  const { status, body } = await world.send('GET', 'health')
  expect({ status, overall: body.status, redis: body.infrastructure.redis.status }).toEqual({
    status: 200,
    overall: 'degraded',
    redis: 'down',
  })
})

test('without one it says unconfigured', async () => {
  const world = await createWorld()
  const { body } = await world.send('GET', 'health')
  expect(body.infrastructure.redis).toEqual({ status: 'unconfigured', latencyMs: null })
})

test.skipIf(!server)('carries what processes tell each other', async () => {
  const url = `redis://127.0.0.1:${port}`
  await untilUp(url)
  const [one, other] = [connectRedis(url)!, connectRedis(url)!]
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
