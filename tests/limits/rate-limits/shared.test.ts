import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import { connectRedis, type Redis } from '../../../src/app/redis'
import { createLive } from '../../../src/cluster'
import { systemClock } from '../../../src/kernel/clock'
import { AppError } from '../../../src/kernel/errors'
import type { Loop } from '../../../src/kernel/loop'
import type { Wire } from '../../../src/kernel/store'
import { createRateLimiter, createTiers, type NodeCounts } from '../../../src/limits'
import { keyCaller, sessionCaller } from '../../support/callers'
import { eventually } from '../../support/eventually'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis'

/** No node of these tests is ever gone: tests/cluster/nodes/killed-counts.test.ts kills some. */
const nothing = () => undefined
const counts: NodeCounts = { add: nothing, letIn: nothing, read: async () => [], uncertain: async () => [] }
/** Nobody hears what such a node tells. */
const deaf = { subscribe: () => () => undefined, publishToOthers: () => undefined }
const ears = new Set<(text: string) => void>()
const wire: Wire = {
  send: async (text) => {
    for (const ear of ears) ear(text)
  },
  hear: async (text) => {
    ears.add(text)
    return async () => void ears.delete(text)
  },
  hearing: () => ears.size === 2,
}
let loops: Loop[]
const quiet = { clock: systemClock, onChange: () => undefined }
const can = hasRedis('rate limits of several nodes')
let server: RedisServer
let links: Redis[]
let raw: RedisClient
let limiters: ReturnType<typeof createRateLimiter>[]

beforeAll(async () => {
  if (!can) return
  server = await startRedis()
  links = [connectRedis(server.url, quiet)!, connectRedis(server.url, quiet)!]
  raw = new RedisClient(server.url)
  const lives = links.map((_, at) =>
    createLive({ wire, node: `node${at}`, clock: systemClock, onError: () => undefined }),
  )
  loops = lives.map((live) => live.start())
  await eventually(wire.hearing)
  limiters = links.map((scripts, at) =>
    createRateLimiter({
      clock: systemClock,
      tiers: createTiers(),
      shared: { scripts, live: lives[at]!, node: `node${at}`, known: () => new Set([`node${1 - at}`]), counts },
    }),
  )
})
afterAll(async () => {
  if (!can) return
  for (const loop of loops) await loop.stop()
  for (const link of links) link.close()
  raw.close()
  await server.stop()
})

/** The refusal, or null when let in. */
const refusalOf = async (attempt: () => unknown): Promise<AppError | null> => {
  try {
    await attempt()
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** How many of `times` attempts on each node, all at once, were let in. */
const admitted = async (times: number, attempt: (limiter: (typeof limiters)[number]) => unknown): Promise<number> => {
  const all = Array.from({ length: 2 * times }, (_, at) => refusalOf(() => attempt(limiters[at % 2]!)))
  return (await Promise.all(all)).filter((refused) => refused === null).length
}

/** Lets `ms` pass for what one subject has used. */
const age = async (keyId: string, name: string, ms: number) => {
  const log = `svc:rate:{${keyId}}:${name}`
  const entries = (await raw.send('ZRANGE', [log, '0', '-1', 'WITHSCORES'])) as [string, number][]
  for (const [member, at] of entries) await raw.send('ZADD', [log, String(Number(at) - ms), member])
}

describe.skipIf(!can)('several nodes with one Redis', () => {
  test('let in together what one would, whatever comes at once, and each says how it stands (docs/api.md 1.6, I12)', async () => {
    const caller = keyCaller()
    expect(await admitted(70, (limiter) => limiter.admitRequest(caller))).toBe(60)
    const refused = await refusalOf(() => limiters[1]!.admitRequest(caller))
    expect(refused?.code).toBe('rate_limit_exceeded')
    expect(refused?.message).toContain('allows 60 requests a minute on tier free, and this is number 61. Try again in')
    for (const limiter of limiters) {
      expect(limiter.headers(caller)['x-ratelimit-remaining-requests']).toBe('0')
      expect((await limiter.status(caller)).usage.requests.remaining).toBe(0)
    }
  })

  test('what is a minute old counts no more, and a refusal says when that will be', async () => {
    const caller = keyCaller()
    // Other nodes let them in: a node holds against Redis what it let in itself.
    const entries = Array.from({ length: 60 }, (_, at) => [String(Date.now()), `other-${at}:1`])
    await raw.send('ZADD', [`svc:rate:{${caller.keyId}}:requests`, ...entries.flat()])
    await age(caller.keyId, 'requests', 40_000)
    const waits = (await refusalOf(() => limiters[0]!.admitRequest(caller)))?.message.match(/(\d+) s\.$/)?.[1]
    expect(Number(waits)).toBeGreaterThan(10)
    expect(Number(waits)).toBeLessThanOrEqual(20)
    await age(caller.keyId, 'requests', 20_000)
    expect(await admitted(70, (limiter) => limiter.admitRequest(caller))).toBe(60)
  })

  test('modes and tokens too; a correction on one node gives room on the other (I14)', async () => {
    const caller = keyCaller()
    expect(await admitted(15, (limiter) => limiter.admitMode(caller, 'research'))).toBe(15)
    const ticket = await limiters[0]!.reserveTokens(caller, 90_000)
    const refused = await refusalOf(() => limiters[1]!.reserveTokens(caller, 20_000))
    expect(refused?.message).toContain('10000 of them are left and this call counts 20000')
    ticket.correct(10_000)
    await limiters[0]!.status(caller)
    await limiters[1]!.reserveTokens(caller, 80_000)
    limiters[1]!.countTokens(caller, 7_000)
    const { usage } = await limiters[1]!.status(caller)
    expect(usage.tokens).toMatchObject({ limit: 100_000, remaining: 3_000 })
    expect(usage.modes.research.remaining).toBe(0)
    expect((await refusalOf(() => limiters[0]!.reserveTokens(caller, 100_001)))?.message).toContain('can never fit')
    await limiters[0]!.admitRequest(caller)
    expect(limiters[0]!.headers(caller)['x-ratelimit-remaining-tokens']).toBe('3000')
  })

  test('a sum that Redis dropped is added up again; of a log that it dropped the nodes know what they let in', async () => {
    const caller = sessionCaller()
    const log = `svc:rate:{session:${caller.userId}}:requests`
    await admitted(50, (limiter) => limiter.admitRequest(caller))
    await raw.send('DEL', [`${log}:sum`])
    expect(await admitted(50, (limiter) => limiter.admitRequest(caller))).toBe(20)
    await raw.send('FLUSHALL', [])
    expect(await admitted(5, (limiter) => limiter.admitRequest(caller))).toBe(0)
    const other = keyCaller()
    expect(await admitted(70, (limiter) => limiter.admitRequest(other))).toBe(60)
  })

  test('without Redis each lets in its share, at once and without an error, also of what it let in before (I-10)', async () => {
    const [caller, other, third] = [keyCaller(), keyCaller(), keyCaller()]
    await admitted(10, (limiter) => limiter.admitRequest(caller))
    await server.kill()
    expect(await admitted(60, (limiter) => limiter.admitRequest(caller))).toBe(40)
    expect(await admitted(60, (limiter) => limiter.admitRequest(other))).toBe(60)
    expect((await refusalOf(() => limiters[0]!.reserveTokens(other, 60_000)))?.message).not.toContain('never')
    expect((await limiters[0]!.status(other)).usage.requests.remaining).toBe(30)
    await server.start()
    await eventually(async () => {
      const caller = keyCaller()
      const all = Array.from({ length: 31 }, () => refusalOf(() => limiters[0]!.admitRequest(caller)))
      return (await Promise.all(all)).every((refused) => refused === null)
    })
    expect(await admitted(70, (limiter) => limiter.admitRequest(third))).toBe(60)
  })

  test('what answers otherwise than Redis does is as good as none', async () => {
    for (const answer of [null, 'OK', [1], ['1', '0', '1', '1', '1', '1'], [1, Number.NaN, 1, 1, 1, 1], { 0: 1 }]) {
      const odd = createRateLimiter({
        clock: systemClock,
        tiers: createTiers(),
        shared: {
          scripts: { run: async (_, __, ___, read) => read(answer), started: async () => 'odd' },
          ...{ live: deaf, counts },
          node: 'odd',
          known: () => new Set(['other']),
        },
      })
      const caller = keyCaller()
      const all = Array.from({ length: 40 }, () => refusalOf(() => odd.admitRequest(caller)))
      expect((await Promise.all(all)).filter((refused) => refused === null)).toHaveLength(20)
      expect(odd.headers(caller)['x-ratelimit-remaining-requests']).toBe('40')
    }
  })

  test('a hanging Redis is treated as absent after a quarter of a second', async () => {
    const caller = keyCaller()
    server.freeze()
    const startedAt = performance.now()
    expect(await admitted(60, (limiter) => limiter.admitRequest(caller))).toBe(60)
    expect(await admitted(5, (limiter) => limiter.admitRequest(caller))).toBe(0)
    server.thaw()
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})
