// Both databases: credit that many calls of one process share.
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { createLimits } from '../../src/billing/limits'
import { walletOf } from '../../src/billing/repository'
import { type Hold, payerOf } from '../../src/billing/schema'
import { createHolds } from '../../src/charging'
import { nodes } from '../../src/cluster/table'
import type { KeyCaller } from '../../src/kernel/caller'
import { microToCents } from '../../src/kernel/money'
import type { Tx } from '../../src/kernel/store'
import { callOf } from '../support/callers'
import { eventually } from '../support/eventually'
import { openTestStore, postgresUrl } from '../support/store'
import { createWorld, endOf, newRef, recordOf } from './world'

const store = await openTestStore()
const { account, audit, billing, clock, start, usage, verify } = createWorld(store)
const CENT = 1_000_000
const callers = new Map<Hold, KeyCaller>()
type Account = Awaited<ReturnType<typeof account>>

/** A call that finds the limits not read yet takes a hold of its own. */
async function share({ caller }: Pick<Account, 'caller'>, amount: number, by = billing): Promise<Hold | null> {
  const payer = payerOf(caller)
  await by.limits.of(store.read, payer.owner)
  const hold = await by.reserveShared({ ...payer, ref: newRef(), amount })
  if (hold) callers.set(hold, caller)
  return hold
}

async function rich(credit = 1_000_000): Promise<Account> {
  const of = await account(credit)
  await billing.limits.of(store.read, of.owner)
  return of
}

const end = (hold: Hold, cost: number, by = billing, caller = callers.get(hold)!): Promise<number> =>
  createHolds({ store, clock, billing: by, audit, usage }).end(endOf(caller, hold, cost))

const balanceOf = ({ owner }: Account) => store.write((tx) => billing.balance(tx, owner))
const heldIn = async ({ owner }: Account) => (await store.write((tx) => walletOf(tx, { id: owner })))[0]!.held

/** Holds end by writes of their own. */
const isAtRest = (of: Account) => eventually(async () => (await heldIn(of)) === 0)

const nodeIsGone = (id: string) =>
  store.write((tx) => tx.delete(tx.of(nodes)).where(sql`${tx.of(nodes).id} = ${id}`) as unknown as Promise<unknown>)

test('calls of one account share one hold, and each is charged what it cost', async () => {
  const ada = await rich()
  const holds = (await Promise.all(Array.from({ length: 20 }, () => share(ada, 100)))) as Hold[]
  expect(new Set(holds.map((hold) => hold.escrow!.ref)).size).toBe(1)
  expect(new Set(holds.map(({ ref }) => ref)).size).toBe(20)
  // Readers see what calls may cost, not what is on hold for none.
  expect(await balanceOf(ada)).toEqual({ balance: 1_000_000, held: 2_000, available: 998_000 })
  const costs = holds.map((_, n) => Math.min(n * 10, 100))
  expect(await Promise.all(holds.map((hold, n) => end(hold, n * 10)))).toEqual(costs)
  const spent = costs.reduce((sum, cost) => sum + cost, 0)
  expect(await balanceOf(ada)).toEqual({ balance: 1_000_000 - spent, held: 0, available: 1_000_000 - spent })
  expect(await verify()).toEqual([])
  clock.advance(2_000)
  expect(billing.escrows.closeIdle()).toBe(1)
  await isAtRest(ada)
  expect(await verify()).toEqual([])
})

test('a thousand calls share a hold, and the next one begins another', async () => {
  const ada = await rich(100_000_000)
  const refs = new Set<string>()
  for (let made = 0; made < 1_001; ) {
    const hold = await share(ada, 100)
    // Its limits were dropped by a message meanwhile.
    if (!hold) continue
    made += 1
    refs.add(hold.escrow!.ref)
    await store.write((tx) => billing.release(tx, hold))
  }
  expect(refs.size).toBe(2)
  clock.advance(2_000)
  billing.escrows.closeIdle()
  await isAtRest(ada)
})

test('a call is charged once, and one that is released costs nothing', async () => {
  const ada = await rich()
  const [one, other] = [(await share(ada, 100))!, (await share(ada, 100))!]
  expect(await end(one, 40)).toBe(40)
  expect(await end(one, 40)).toBe(0)
  expect(await store.write((tx) => billing.release(tx, other))).toBe(true)
  expect(await end(other, 50)).toBe(0)
  expect(await balanceOf(ada)).toEqual({ balance: 999_960, held: 0, available: 999_960 })
  expect(await verify()).toEqual([])
})

test('who has little, a cap or no amount to hold takes no part in it', async () => {
  const [ada, eve, bob] = [await rich(12_799), await rich(), await rich()]
  const capped = { caller: { ...eve.caller, dailyCapCents: 1 } }
  expect(await share(ada, 100)).toBeNull()
  expect(await share(capped, 100)).toBeNull()
  expect(await share(bob, 0)).toBeNull()
  expect((await share(bob, 100))?.amount).toBe(100)
})

test('nobody is refused while something is on hold for no call (402 is exact)', async () => {
  const ada = await rich(100_000)
  const running = (await share(ada, 500))!
  expect(await heldIn(ada)).toBe(4_000)
  // Refused: what was given back for it is taken back with its unit, and found again.
  await expect(ada.reserve(99_501)).rejects.toMatchObject({ code: 'insufficient_credits' })
  expect(await heldIn(ada)).toBe(4_000)
  await ada.reserve(99_500)
  expect(await balanceOf(ada)).toEqual({ balance: 100_000, held: 100_000, available: 0 })
  await expect(ada.reserve(1)).rejects.toMatchObject({ code: 'insufficient_credits' })
  expect(await end(running, 500)).toBe(500)
  await eventually(async () => (await heldIn(ada)) === 99_500)
  expect(await balanceOf(ada)).toEqual({ balance: 99_500, held: 99_500, available: 0 })
  expect(await verify()).toEqual([])
})

test('a correction, and more for a running call, find what is on hold for none', async () => {
  const ada = await rich(100_000)
  const running = (await share(ada, 500))!
  const input = { owner: ada.owner, amount: -90_000, ref: newRef(), note: null }
  expect(await store.write((tx) => billing.adjust(tx, input))).toBe(true)
  const { caps } = payerOf(ada.caller)
  const grown = await billing.grow(running, caps, 9_500)
  expect(grown.amount).toBe(10_000)
  await expect(billing.grow(grown, caps, 1)).rejects.toMatchObject({ kind: 'unpaid' })
  expect(await end(grown, 10_000, billing, ada.caller)).toBe(10_000)
  expect(await balanceOf(ada)).toEqual({ balance: 0, held: 0, available: 0 })
  expect(await verify()).toEqual([])
})

test('caps that are set while calls run count what these may cost, and nothing that is on hold for none', async () => {
  const ada = await rich(100 * CENT)
  const running = (await share(ada, CENT / 10))!
  await createLimits({
    ...{ store, clock, audit, orgs: null as never, limits: billing.limits, watch: billing.watch, canCharge: false },
    ...{ balanceOf: billing.balance, recall: billing.escrows.recallAll },
  }).setCaps(ada.owner, { daily_cap_cents: 1, monthly_cap_cents: null }, async () => undefined)
  expect(await share(ada, CENT / 10)).toBeNull()
  await ada.reserve(0.9 * CENT)
  await expect(ada.reserve(1)).rejects.toThrow('daily cap')
  expect(await end(running, CENT / 10)).toBe(CENT / 10)
  await expect(ada.reserve(1)).rejects.toThrow('daily cap')
  expect(await verify()).toEqual([])
})

test('a process that dies leaves a hold, which the next one releases with one event', async () => {
  const ada = await rich()
  const dead = start('dead')
  await share(ada, 100, dead)
  const ended = (await share(ada, 100, dead))!
  await end(ended, 30, dead)
  expect(await heldIn(ada)).toBe(770)
  await nodeIsGone('dead')
  expect(await billing.releaseAbandoned()).toBe(1)
  expect(await heldIn(ada)).toBe(0)
  expect(await balanceOf(ada)).toEqual({ balance: 999_970, held: 0, available: 999_970 })
  expect(await verify()).toEqual([])
  expect(await interruptedOf(ada)).toHaveLength(1)
})

const interruptedOf = async ({ owner }: Account) =>
  (await audit.list(store.read, owner, { limit: 100 })).items.filter(
    ({ action }) => action === 'completion.interrupted',
  )

test('of a hold that no call had a part of, the next process writes no event', async () => {
  const [ada, eve, bob] = [await rich(), await rich(), await rich()]
  const dead = start('idle')
  for (const of of [ada, eve]) {
    const both = [(await share(of, 100, dead))!, (await share(of, 100, dead))!]
    for (const hold of both) await end(hold, 30, dead)
  }
  // Released, which writes nothing: the loop of the process tells it.
  const released = (await share(bob, 100, dead))!
  await store.write((tx) => dead.release(tx, released))
  // Begun on a hold that was idle, and so long under way that the loop has told it.
  expect((await share(eve, 100, dead))!.escrow!.isIdle).toBe(true)
  await dead.escrows.markAll()
  await nodeIsGone('idle')
  expect(await billing.releaseAbandoned()).toBe(3)
  for (const of of [ada, eve, bob]) expect(await heldIn(of)).toBe(0)
  const events = await Promise.all([ada, eve, bob].map(interruptedOf))
  expect(events.map(({ length }) => length)).toEqual([0, 1, 0])
  expect(await verify()).toEqual([])
})

test('readers do not see as on hold what another process has on hold for no call', async () => {
  const ada = await rich()
  const other = start('elsewhere')
  const [first, second] = [(await share(ada, 100, other))!, (await share(ada, 100, other))!]
  await end(first, 30, other)
  expect((await balanceOf(ada)).held).toBe(770)
  await end(second, 30, other)
  // On SQLite no other process serves.
  expect((await balanceOf(ada)).held).toBe(store.dialect === 'postgres' ? 0 : 740)
  await nodeIsGone('elsewhere')
  expect(await billing.releaseAbandoned()).toBe(1)
  expect(await balanceOf(ada)).toEqual({ balance: 999_940, held: 0, available: 999_940 })
})

test('a call that ends during another one records that in its row', async () => {
  const ada = await rich()
  const dead = start('busy')
  const first = (await share(ada, 100, dead))!
  await end(first, 30, dead)
  const [, second] = [(await share(ada, 100, dead))!, (await share(ada, 100, dead))!]
  await end(second, 30, dead)
  await nodeIsGone('busy')
  expect(await billing.releaseAbandoned()).toBe(1)
  expect(await interruptedOf(ada)).toHaveLength(1)
})

test('a process that was taken for dead charges nothing late, and begins another hold', async () => {
  const ada = await rich()
  const late = start('late')
  const [first, second] = [(await share(ada, 100, late))!, (await share(ada, 100, late))!]
  await nodeIsGone('late')
  expect(await billing.releaseAbandoned()).toBe(1)
  await ada.reserve(1_000_000)
  expect(await end(first, 60, late)).toBe(0)
  expect(await end(second, 60, late)).toBe(0)
  expect(await balanceOf(ada)).toEqual({ balance: 1_000_000, held: 1_000_000, available: 0 })
  expect(await share(ada, 100, late)).toBeNull()
  expect(await verify()).toEqual([])
})

test('a call whose settlement failed is free, and its hold is closed and reopened', async () => {
  const ada = await rich()
  const [lost, other] = [(await share(ada, 100))!, (await share(ada, 100))!]
  billing.releaseLater(lost)
  const next = (await share(ada, 100))!
  expect(next.escrow).not.toBe(lost.escrow)
  expect(await end(lost, 50)).toBe(0)
  expect(await end(other, 20)).toBe(20)
  expect(await end(next, 7)).toBe(7)
  await eventually(async () => (await heldIn(ada)) === 793)
  expect(await balanceOf(ada)).toEqual({ balance: 999_973, held: 0, available: 999_973 })
  expect(await verify()).toEqual([])
})

test('verify finds a call whose event says another cost, and one that was charged twice', async () => {
  const ada = await rich()
  const [one, other] = [(await share(ada, 100))!, (await share(ada, 100))!]
  await end(one, 40)
  await end(other, 60)
  const broken: string[][] = []
  const undone = new Error('undone')
  const breaking = (unit: (tx: Tx) => Promise<unknown>) =>
    store
      .write(async (tx) => {
        await unit(tx)
        broken.push(await billing.verify(tx))
        throw undone
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error
      })
  // Rows cannot be changed, so further ones are written.
  const again = (tx: Tx, hold: Hold, costMicro: number, cost_cents = microToCents(costMicro)) => {
    const record = recordOf(ada.caller, hold, costMicro, cost_cents)
    return audit.recordCalls(tx, [record], (unit, events) => usage.recordAll(unit, [record.usage], events))
  }
  const changed = { ...one, ref: `${one.escrow!.ref}.x.req_test` }
  await breaking((tx) => again(tx, changed, 5, 1))
  expect(broken.pop()).toContain(`billing: a call charges 5 to ${changed.ref}, but its event says 1 cents`)
  await breaking((tx) => again(tx, one, 40))
  expect(broken.pop()).toEqual([
    `billing: ${one.ref} was charged twice`,
    `billing: wallet ${ada.owner} has 999900, but its ledger entries add up to 999860`,
    `billing: hold ${one.escrow!.ref} was charged 100, but its calls cost 140`,
  ])
  expect(await verify()).toEqual([])
})

if (!postgresUrl)
  process.stdout.write('NOT RUN: two processes that share holds, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl)('one process gives back what it has on hold for no call where another needs it', async () => {
  const ears = new Set<(heard: { id: string }) => void>()
  const live = {
    publishToOthers: (_topic: string, id: string) =>
      setImmediate(() => {
        for (const hear of ears) hear({ id })
      }),
    subscribe: (_topic: string, _id: string, hear: (heard: never) => void) => {
      ears.add(hear as never)
      return () => ears.delete(hear as never)
    },
  }
  const [one, two] = [start('one', 0, live), start('two', 0, live)]
  const loops = [one, two].map((each) => each.escrows.start((_name, error) => fail(error)))
  const ada = await account(100_000)
  const running = (await share(ada, 500, one))!
  const needed = { ...payerOf(ada.caller), ref: newRef(), amount: 99_500 }
  const hold = (await store.write((tx) => two.reserve(tx, needed)))!
  expect(await heldIn(ada)).toBe(100_000)
  expect(await end(running, 500, one)).toBe(500)
  await store.write((tx) => two.release(tx, hold))
  await isAtRest(ada)
  // A balance of which the other process has the rest is not empty.
  await share(ada, 500, one)
  const input = { owner: ada.owner, amount: -95_500, ref: newRef(), note: null }
  expect(await store.write((tx) => billing.adjust(tx, input))).toBe(true)
  await expect(two.assertFunds(store.read, callOf(ada.caller))).resolves.toBeUndefined()
  await Promise.all(loops.map((loop) => loop.stop()))
  expect(await verify()).toEqual([])
})

test.skipIf(!postgresUrl)('after a pause a process asks whether its hold is open before it takes from it', async () => {
  const ada = await rich()
  const paused = start('paused')
  const before = (await share(ada, 100, paused))!
  await nodeIsGone('paused')
  expect(await billing.releaseAbandoned()).toBe(1)
  clock.advance(6_000)
  const after = (await share(ada, 100, paused))!
  expect(after.escrow).not.toBe(before.escrow)
  expect(await end(before, 60, paused)).toBe(0)
  expect(await end(after, 60, paused)).toBe(60)
  expect(await balanceOf(ada)).toMatchObject({ balance: 999_940 })
  expect(await verify()).toEqual([])
})

function fail(error: unknown): never {
  throw error
}
