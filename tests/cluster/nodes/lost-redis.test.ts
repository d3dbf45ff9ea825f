import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connectRedis } from '../../../src/app/redis'
import { createLive, eitherWire } from '../../../src/cluster'
import { systemClock } from '../../../src/kernel/clock'
import { AppError } from '../../../src/kernel/errors'
import { openPostgres } from '../../../src/kernel/store'
import { createNodeCounts, createRateLimiter, createTiers, type RateLimiter } from '../../../src/limits'
import { keyCaller } from '../../support/callers'
import { eventually } from '../../support/eventually'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis'
import { createMigratedDatabase, type OwnDatabase, postgresUrl } from '../../support/store'
import { startTcpProxy } from '../../support/tcp-proxy'

const can = hasRedis('limits of nodes that lose Redis') && postgresUrl !== undefined
if (!postgresUrl)
  process.stdout.write('NOT RUN: limits of nodes that lose Redis, because SVC_TEST_POSTGRES_URL is not set.\n')

const IDS = ['a', 'b', 'c']

type Cable = Awaited<ReturnType<typeof startTcpProxy>>
type Node = { limiter: RateLimiter; cable: Cable; stop(): Promise<void> }

const [database, server] = can
  ? await Promise.all([createMigratedDatabase(postgresUrl!), startRedis()])
  : ([] as never as [OwnDatabase, RedisServer])
const nodes: Node[] = []
/** Which others each node knows of by their leases. */
const known = new Map(IDS.map((id) => [id, new Set(IDS.filter((other) => other !== id))]))
/** A node with its own way to Redis, and its own connections to the database that all share. */
async function startNode(node: string): Promise<Node> {
  const { hostname, port } = new URL(server.url)
  const cable = await startTcpProxy({ hostname, port: Number(port) })
  const store = openPostgres({ url: database.url, maxConnections: 2 })
  const redis = connectRedis(`redis://127.0.0.1:${cable.port}`, { clock: systemClock, onChange: () => undefined })!
  const wire = eitherWire(redis.wire, store.wire!)
  const live = createLive({ wire, surest: store.wire, node, clock: systemClock, onError: () => undefined })
  const loop = live.start()
  await eventually(() => wire.hearing())
  const limiter = createRateLimiter({
    clock: systemClock,
    tiers: createTiers(),
    shared: {
      ...{ scripts: redis, live, node, known: () => known.get(node)! },
      counts: createNodeCounts({ store, clock: systemClock, node }),
    },
  })
  const stop = async () => {
    await loop.stop()
    redis.close()
    await store.close()
  }
  return { limiter, cable, stop }
}

if (can) for (const id of IDS) nodes.push(await startNode(id))
afterAll(async () => {
  if (!can) return
  for (const node of nodes) await node.stop()
  await server.stop()
  await database.drop()
})

type Caller = ReturnType<typeof keyCaller>
type Attempt = (limiter: RateLimiter, caller: Caller) => unknown

const request: Attempt = (limiter, caller) => limiter.admitRequest(caller)
const thousandTokens: Attempt = (limiter, caller) => limiter.reserveTokens(caller, 1_000)

/** How many of `times` attempts on each of these nodes, all at once, were let in. */
async function admitted(times: number, on: readonly Node[], attempt: Attempt, caller: Caller): Promise<number> {
  const one = async ({ limiter }: Node): Promise<number> => {
    try {
      await attempt(limiter, caller)
      return 1
    } catch (error) {
      if (error instanceof AppError) return 0
      throw error
    }
  }
  const all = await Promise.all(Array.from({ length: times * on.length }, (_, at) => one(on[at % on.length]!)))
  return all.reduce((sum, each) => sum + each, 0)
}

const KINDS: [name: string, attempt: Attempt, limit: number][] = [
  ['requests', request, 60],
  ['tokens', thousandTokens, 100],
]

describe.skipIf(!can)('nodes that lose Redis stay within a limit together (I-10)', () => {
  beforeEach(async () => {
    for (const { cable } of nodes) cable.restore()
    await counted()
  })

  test.each(KINDS)('one that is cut off has another count for it: %s', async (_, attempt, limit) => {
    const [cut, ...hearing] = nodes as [Node, ...Node[]]
    /** What the one that is cut off gets of the limit. */
    const got = async () => {
      const caller = keyCaller()
      cut.cable.restore()
      const before = await admitted(5, nodes, attempt, caller)
      cut.cable.sever()
      const during = await admitted(limit, [cut], attempt, caller)
      const others = await admitted(limit, hearing, attempt, caller)
      cut.cable.restore()
      const after = await admitted(limit, nodes, attempt, caller)
      expect(before + during + others + after).toBeLessThanOrEqual(limit)
      return before + during
    }
    // Where this machine stands still, Redis is taken to be away from the others, too.
    expect(await eventually(got, (max) => max === limit)).toBe(limit)
  })

  test('what it counted through another is corrected there too, and it sees what all have used', async () => {
    const caller = keyCaller()
    const [cut, other] = nodes as [Node, Node]
    cut.cable.sever()
    const ticket = await cut.limiter.reserveTokens(caller, 90_000)
    expect(await admitted(20, [other], thousandTokens, caller)).toBe(10)
    ticket.correct(50_000)
    await eventually(async () => (await cut.limiter.status(caller)).usage.tokens.remaining === 40_000)
    expect(await admitted(50, [cut, other], thousandTokens, caller)).toBe(40)
    cut.cable.restore()
  })

  test.each(KINDS)('cuts that come and go let in the limit, no more and hardly less: %s', async (_, attempt, limit) => {
    const caller = keyCaller()
    let sum = 0
    for (let round = 0; round < 12; round++) {
      const { cable } = nodes[round % 2]!
      const under = admitted(5, nodes, attempt, caller)
      cable.sever()
      sum += await under
      sum += await admitted(1, nodes, attempt, caller)
      cable.restore()
    }
    sum += await admitted(limit, nodes, attempt, caller)
    expect(sum).toBeLessThanOrEqual(limit)
    expect(sum).toBeGreaterThanOrEqual(limit * 0.95)
  })

  test.each(KINDS)(
    'where all lose it each takes its part of what is left, and Redis anew counts what was let in without it: %s',
    async (_, attempt, limit) => {
      const [caller, spent, fresh] = [keyCaller(), keyCaller(), keyCaller()]
      const [one, two] = nodes as [Node, Node]
      expect(await admitted(limit / 2, [one], attempt, caller)).toBe(limit / 2)
      expect(await admitted(limit, [two], attempt, spent)).toBe(limit)
      await server.kill()
      // One has more than its third of it, and the two others share the rest.
      expect(await admitted(limit, nodes, attempt, caller)).toBe(limit / 2)
      expect(await admitted(limit, nodes, attempt, spent)).toBe(0)
      const alone = await admitted(limit, [one], attempt, fresh)
      expect(alone).toBe(Math.floor(limit / 3))
      await server.start()
      for (const known of [caller, spent]) expect(await admitted(limit, nodes, attempt, known)).toBe(0)
      await counted()
      for (const known of [caller, spent]) expect(await admitted(limit, nodes, attempt, known)).toBe(0)
      expect(await admitted(limit, nodes, attempt, fresh)).toBe(limit - alone)
    },
  )

  test.each(KINDS)(
    'a node that was started just now is known from its first question on: %s',
    async (_, attempt, limit) => {
      const [one, two] = nodes as [Node, Node]
      const others = [...known]
      known.set('a', new Set()).set('b', new Set(['a']))
      for (const { cable } of nodes) cable.sever()
      for (let round = 0; round < 5; round++) {
        const caller = keyCaller()
        const first = admitted(round, [two], attempt, caller)
        expect((await admitted(limit, [one, two], attempt, caller)) + (await first)).toBeLessThanOrEqual(limit)
      }
      for (const [id, those] of others) known.set(id, those)
    },
  )

  test('a node that does not answer leaves the others a share, after half a second', async () => {
    const caller = keyCaller()
    const [one] = nodes as [Node]
    await server.kill()
    const deaf = nodes[2]!
    await deaf.stop()
    const startedAt = performance.now()
    expect(await admitted(60, [one], request, caller)).toBe(15)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    await server.start()
    nodes[2] = await startNode('c')
    await counted()
  })
})

/** Until each node again gets the whole limit of a key that nobody has used. */
const counted = () =>
  eventually(async () => {
    const all = await Promise.all(nodes.map((node) => admitted(60, [node], request, keyCaller())))
    return all.every((each) => each === 60)
  })
