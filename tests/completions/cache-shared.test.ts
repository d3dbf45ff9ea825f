import { afterAll, describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { connectRedis } from '../../src/app/redis'
import { createAnswerCache, type NewEntry, type StoredAnswer } from '../../src/completions/cache'
import { systemClock } from '../../src/kernel/clock'
import { eventually } from '../support/eventually'
import { hasRedis, startRedis } from '../support/redis'

const answer = { content: 'a secret word', toolsUsed: [], artifacts: [], warnings: [] } as unknown as StoredAnswer
const entry: NewEntry = {
  ...{ answer, scope: 'user:a', owner: 'user:a', keyId: null, costMicro: 1 },
  ...{ promptHash: 'of what is it', ttlS: 60 },
}

async function open() {
  const redis = await startRedis()
  const client = new RedisClient(redis.url)
  const connections = Array.from({ length: 2 }, () => {
    return connectRedis(redis.url, { clock: systemClock, onChange: () => undefined })!
  })
  afterAll(async () => {
    for (const one of [...connections, client]) one.close()
    await redis.stop()
  })
  const node = (at: 0 | 1, masterKey = new Uint8Array(32).fill(7)) =>
    createAnswerCache({ clock: systemClock, shared: { masterKey, scripts: connections[at]! } })
  /** Puts it, and waits until it is in Redis. */
  const put = async (cache: ReturnType<typeof node>, key: string) => {
    cache.put(key, entry)
    await eventually(async () => (await client.exists(`svc:answer:${key}`)) === true)
  }
  const find = async (cache: ReturnType<typeof node>, key: string) => {
    await cache.look(key)
    return cache.get(key)
  }
  return { redis, client, node, put, find }
}

describe.if(hasRedis('answers that nodes share'))('answers that nodes share', () => {
  test('are found by another node, sealed, under their own key alone, for as long as they live', async () => {
    const { client, node, put, find } = await open()
    await put(node(0), 'k')
    const other = node(1)
    expect(await find(other, 'other')).toBeNull()
    // A busy machine may answer too late once; then it is a miss.
    await eventually(async () => (await find(other, 'k')) !== null)
    expect(await find(other, 'k')).toEqual(answer)
    expect(other.look('k')).toBeNull()
    const left = [...other.all()][0]![1].until - systemClock.monotonic()
    expect({ atMost: left <= 60_000, least: left > 50_000 }).toEqual({ atMost: true, least: true })
    const stored = (await client.get('svc:answer:k'))!
    expect(stored).not.toContain('secret')
    await client.set('svc:answer:moved', stored)
    expect(await find(other, 'moved')).toBeNull()
    expect(await find(node(1, new Uint8Array(32)), 'k')).toBeNull()
  })

  test('are gone after a purge, and what is put later is found', async () => {
    const { client, node, put, find } = await open()
    const one = node(0)
    await put(one, 'k')
    one.purge(() => true)
    await eventually(async () => (await client.exists('svc:answers:purged')) === true)
    expect(await find(node(1), 'k')).toBeNull()
    one.put('k', entry)
    await eventually(async () => (await find(node(1), 'k')) !== null)
  })

  test('are only missed when Redis is flushed, killed or frozen, and nobody waits for it twice', async () => {
    const { redis, client, node, put, find } = await open()
    await put(node(0), 'k')
    await client.send('FLUSHALL', [])
    const other = node(1)
    expect(await find(other, 'k')).toBeNull()
    redis.freeze()
    const from = performance.now()
    expect(await find(other, 'k')).toBeNull()
    expect(performance.now() - from).toBeLessThan(1_000)
    expect(other.look('k')).toBeNull()
    redis.thaw()
    await redis.kill()
    expect(await find(node(0), 'k')).toBeNull()
  })
})
