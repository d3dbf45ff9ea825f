import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { releaseAbandonedBatch } from '../../../src/billing'
import { createNodes } from '../../../src/cluster'
import { openPostgres, type Store } from '../../../src/kernel/store'
import { createWorld } from '../../billing/world'
import { createMigratedDatabase, postgresUrl } from '../../support/store'

if (!postgresUrl) process.stdout.write('NOT RUN: leases of nodes, because SVC_TEST_POSTGRES_URL is not set.\n')

const LEASE_MS = 6_000
const RENEW_MS = 1_500

/** A database whose clock moves only when told to: its own `clock_timestamp` stands before that of Postgres. */
async function openWithClock(url: string): Promise<{ store: Store; passes(ms: number): Promise<void> }> {
  const database = await createMigratedDatabase(url)
  const admin = new SQL(database.url, { max: 1 })
  await admin`CREATE SCHEMA fake`
  await admin`CREATE TABLE fake.clock (ms bigint NOT NULL)`
  await admin`INSERT INTO fake.clock VALUES (1767225600000)`
  await admin`CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
    'SELECT to_timestamp(ms / 1000.0) FROM fake.clock'`
  await admin.unsafe(
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET search_path = fake, pg_catalog, public`,
  )
  const store = openPostgres({ url: database.url, maxConnections: 4 })
  afterAll(async () => {
    await Promise.all([store.close(), admin.close()])
    await database.drop()
  })
  return { store, passes: async (ms) => void (await admin`UPDATE fake.clock SET ms = ms + ${ms}`) }
}

let started = 0

async function cluster() {
  const { store, passes } = await openWithClock(postgresUrl!)
  const world = createWorld(store)
  const { clock, audit, start } = world
  /** A process; its money is that of `node-a` where a test spends as it does. */
  const node = (id = `node-${++started}`, home = `folder of ${id}`, { roles = 'api', ownFiles = false } = {}) => {
    const billing = start(id)
    const recover = () => releaseAbandonedBatch({ store, clock, audit, node: id, release: billing.release })
    return { ...createNodes({ store, node: id, home, roles, ownFiles }), billing, recover }
  }
  type Node = ReturnType<typeof node>
  /** Time passes while these nodes, and no others, renew their leases. */
  const live = async (ms: number, ...alive: Node[]) => {
    for (let passed = 0; passed < ms; passed += RENEW_MS) {
      await passes(RENEW_MS)
      for (const one of alive) await one.renew()
    }
  }
  return { ...world, store, node, live, passes, ada: await world.account(1_000) }
}

describe.skipIf(!postgresUrl)('the lease of a node (I8)', () => {
  test('ends with its process: others release its holds, and a late end changes nothing', async () => {
    const { ada, node, live, settle, release, verify } = await cluster()
    const [dead, other] = [node('node-a'), node()]
    for (const one of [dead, other]) await one.join()
    const ref = await ada.reserve(300)
    await live(LEASE_MS * 2, dead, other)
    expect(await other.recover()).toBe(0)
    await live(LEASE_MS - RENEW_MS, other)
    expect(await other.recover()).toBe(0)
    await live(RENEW_MS, other)
    expect(await other.recover()).toBe(1)
    expect({ settle: await settle(ref, 200), release: await release(ref) }).toEqual({ settle: 0, release: false })
    expect(await ada.balance()).toEqual({ balance: 1_000, held: 0, available: 1_000 })
    expect(await verify()).toEqual([])
  })

  test('ends at once when its data folder is used by a new process, and not by one in another folder', async () => {
    const { ada, node } = await cluster()
    await node('node-a', 'folder').join()
    await ada.reserve(300)
    const [elsewhere, again] = [node('node-b', 'a copy'), node('node-c', 'folder')]
    await elsewhere.join()
    expect(await elsewhere.billing.releaseAbandoned()).toBe(0)
    await again.join()
    expect(await again.billing.releaseAbandoned()).toBe(1)
    expect(await ada.balance()).toMatchObject({ held: 0, available: 1_000 })
  })

  test('ends when the process stops', async () => {
    const { ada, node } = await cluster()
    const [stopped, other] = [node('node-a'), node()]
    await stopped.join()
    await ada.reserve(300)
    await stopped.leave()
    expect(await other.recover()).toBe(1)
  })

  test('starts again with a hold after the process was paused', async () => {
    const { ada, node, live, settle } = await cluster()
    const [paused, other] = [node('node-a'), node()]
    for (const one of [paused, other]) await one.join()
    await live(LEASE_MS * 2, paused, other)
    const before = await ada.reserve(300)
    await live(LEASE_MS * 2, other)
    expect(await other.recover()).toBe(1)
    const after = await ada.reserve(200)
    await other.renew()
    expect(await other.recover()).toBe(0)
    expect({ before: await settle(before, 300), after: await settle(after, 150) }).toEqual({ before: 0, after: 150 })
    expect(await ada.balance()).toEqual({ balance: 850, held: 0, available: 850 })
  })

  test('does not end for a database that was away: nobody could renew', async () => {
    const { ada, node, live, passes } = await cluster()
    const [one, other] = [node('node-a'), node()]
    for (const each of [one, other]) await each.join()
    await live(LEASE_MS * 2, one, other)
    await ada.reserve(300)
    await passes(60_000)
    await live(LEASE_MS - RENEW_MS, other)
    expect(await other.recover()).toBe(0)
    await live(LEASE_MS * 2, one, other)
    expect(await other.recover()).toBe(0)
    await live(LEASE_MS * 2, other)
    expect(await other.recover()).toBe(1)
  })
})

describe.skipIf(!postgresUrl)('what nodes know of each other', () => {
  test('a role is served while a node with it lives, and for 30 s after', async () => {
    const { node, live } = await cluster()
    const [api, worker] = [node('api'), node('worker', 'there', { roles: 'jobs,deliveries' })]
    const served = () => ['api', 'jobs', 'deliveries', 'browser'].filter(api.isServed)
    await api.join()
    await live(30_000, api)
    expect(served()).toEqual(['api', 'jobs', 'deliveries', 'browser'])
    await live(3_000, api)
    expect(served()).toEqual(['api'])
    await worker.join()
    await live(RENEW_MS, api, worker)
    expect(served()).toEqual(['api', 'jobs', 'deliveries'])
    await worker.leave()
    await live(27_000, api)
    expect(served()).toEqual(['api', 'jobs', 'deliveries'])
    await live(6_000, api)
    expect(served()).toEqual(['api'])
  })

  test('a command does nothing for others', async () => {
    const { node, live } = await cluster()
    const [api, command] = [node('api'), node('command', 'there', { roles: '', ownFiles: true })]
    for (const one of [api, command]) await one.join()
    await live(33_000, api, command)
    expect(api.others().size).toBe(0)
    expect(api.isServed('jobs')).toBe(false)
    expect(api.hasScatteredFiles()).toBe(false)
  })

  test('files are scattered when several serve and one keeps them in its own folder', async () => {
    const { node, live } = await cluster()
    const [shares, alone] = [node('one'), node('two', 'there', { roles: 'jobs', ownFiles: true })]
    await alone.join()
    expect(alone.hasScatteredFiles()).toBe(false)
    await shares.join()
    expect(shares.hasScatteredFiles()).toBe(true)
    await live(RENEW_MS, alone)
    expect(alone.hasScatteredFiles()).toBe(true)
    await shares.leave()
    await live(RENEW_MS, alone)
    expect(alone.hasScatteredFiles()).toBe(false)
  })
})

describe.skipIf(!postgresUrl)('a hold past its time', () => {
  test('is left to the node that knows it: clocks of nodes may differ', async () => {
    const { ada, node, clock } = await cluster()
    const [one, other] = [node('node-a'), node()]
    for (const each of [one, other]) await each.join()
    await ada.reserve(300)
    clock.advance(660_000)
    expect(await other.recover()).toBe(0)
    expect(await one.recover()).toBe(1)
  })
})
