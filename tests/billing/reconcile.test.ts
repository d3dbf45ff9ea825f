import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { holds, ledgerEntries, wallets } from '../../src/billing/table'
import { pages } from '../../src/billing/verify-queries'
import type { OwnerScope } from '../../src/kernel/caller'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { account, billing, clock, heard, settle, verify } = createWorld(store)
const { reconciliation, expiringGrants } = billing
const HOUR = 3_600_000
const CENT = 1_000_000
let refs = 0

const edit = (owner: OwnerScope, change: { balance?: number; held?: number }) =>
  store.write((tx) => {
    const t = tx.of(wallets)
    return tx.update(t).set(change).where(eq(t.id, owner))
  })
const apply = (owner: OwnerScope) => reconciliation.apply(owner, async () => undefined)
const grantFor = (owner: OwnerScope, amount: number, expiresAt: number | null) => {
  const input = { owner, amount, ref: `reconcile_${++refs}`, kind: 'grant', note: null, expiresAt } as const
  return store.write((tx) => billing.grant(tx, input))
}
const entry = (account: string, amount: number) => ({
  ...{ ref: `entry_${++refs}`, kind: 'grant', account, amount },
  ...{ at: 0, note: null },
})

describe('a wallet that disagrees with the ledger', () => {
  test('is found whichever of its amounts is wrong, and nobody else is', async () => {
    const [ada, eve, bob] = [await account(1_000), await account(500), await account(300)]
    await settle(await ada.reserve(100), 40)
    expect(await reconciliation.differences()).toEqual([])
    await edit(ada.owner, { balance: 2_000 })
    await edit(eve.owner, { held: 7 })
    const differences = await reconciliation.differences()
    expect(differences).toEqual(
      [
        { owner: ada.owner, balance: 2_000, held: 0, entries: 960, open: 0 },
        { owner: eve.owner, balance: 500, held: 7, entries: 500, open: 0 },
      ].sort((a, b) => (a.owner < b.owner ? -1 : 1)),
    )
    for (const { owner } of differences) expect(await apply(owner)).toMatchObject({ owner })
    expect(await reconciliation.differences()).toEqual([])
    expect({ ada: await apply(ada.owner), bob: await apply(bob.owner) }).toEqual({ ada: null, bob: null })
    expect(await verify()).toEqual([])
  })

  test('is set to nothing when the ledger says so, and to just what is on hold', async () => {
    const [ada, eve] = [await account(0), await account(300)]
    await store.write(async (tx) => {
      await tx.insert(tx.of(wallets)).values({ id: ada.owner, balance: 50, held: 0, capped: false })
    })
    await eve.reserve(300)
    await edit(eve.owner, { balance: 400 })
    expect(await apply(ada.owner)).toMatchObject({ balance: 50, entries: 0 })
    expect(await apply(eve.owner)).toMatchObject({ balance: 400, entries: 300, open: 300 })
    expect(await ada.balance()).toEqual({ balance: 0, held: 0, available: 0 })
    expect(await eve.balance()).toEqual({ balance: 300, held: 300, available: 0 })
  })

  test('stays as it is when no wallet can be what the ledger says', async () => {
    const [ada, eve] = [await account(100), await account(100)]
    await eve.reserve(90)
    await store.write(async (tx) => {
      const t = tx.of(ledgerEntries)
      const moved = [entry(ada.owner, -101), entry('issued', 101), entry(eve.owner, -11), entry('issued', 11)]
      await tx.insert(t).values(moved)
    })
    for (const owner of [ada.owner, eve.owner]) expect(await apply(owner)).toBeNull()
    expect({ ada: await ada.balance(), eve: await eve.balance() }).toMatchObject({
      ada: { balance: 100 },
      eve: { balance: 100, held: 90 },
    })
    await edit(ada.owner, { balance: 0 })
    await store.write(async (tx) => {
      await tx.insert(tx.of(ledgerEntries)).values([entry(ada.owner, 1), entry(eve.owner, 11)])
    })
  })

  test('keeps the credit that expires: what a correction takes away was not spent', async () => {
    const ada = await account(0)
    await grantFor(ada.owner, 100, clock.now() + HOUR)
    await edit(ada.owner, { balance: 300 })
    // What is left of each grant is noted with any other credit, here against a balance that is wrong.
    await grantFor(ada.owner, 50, null)
    expect(await apply(ada.owner)).toMatchObject({ balance: 350, entries: 150 })
    expect(await expiringGrants.of(store.read, ada.owner)).toMatchObject([{ remaining: 100 }])
    await settle(await ada.reserve(30), 30)
    expect(await expiringGrants.of(store.read, ada.owner)).toMatchObject([{ remaining: 70 }])
    clock.advance(HOUR)
    while (await expiringGrants.expireDue());
    expect(await ada.balance()).toMatchObject({ balance: 50 })
  })

  test('that was deleted is restored with its expiring credit', async () => {
    const ada = await account(50)
    await grantFor(ada.owner, 100, clock.now() + HOUR)
    await settle(await ada.reserve(30), 30)
    await store.write((tx) => tx.delete(tx.of(wallets)).where(eq(tx.of(wallets).id, ada.owner)))
    expect(await apply(ada.owner)).toEqual({ owner: ada.owner, balance: null, held: null, entries: 120, open: 0 })
    expect(await expiringGrants.of(store.read, ada.owner)).toMatchObject([{ remaining: 70 }])
  })

  test('that was corrected downward tells of the next charge that makes it low', async () => {
    const ada = await account(600 * CENT)
    await edit(ada.owner, { balance: 1_600 * CENT })
    await settle(await ada.reserve(CENT), CENT)
    await apply(ada.owner)
    heard.length = 0
    await settle(await ada.reserve(100 * CENT), 100 * CENT)
    expect(heard).toMatchObject([{ type: 'credits.low', data: { balance_cents: 499 } }])
  })
})

test('a hold that another process ended while the books were read is no difference', async () => {
  const ada = await account(1_000)
  const ref = await ada.reserve(100)
  const t = store.read.of(holds)
  const reading = reconciliation.differences()
  await settle(ref, 60)
  expect((await reading).filter(({ owner }) => owner === ada.owner)).toEqual([])
  expect(await store.read.$count(t, eq(t.ref, ref))).toBe(1)
})

describe('pages', () => {
  async function read(rows: number) {
    const requests: [number, number][] = []
    const found: number[] = []
    const from = async (after: number, limit: number) => {
      requests.push([after, limit])
      return Array.from({ length: Math.min(limit, rows - after) }, (_, index) => after + index + 1)
    }
    for await (const row of pages(from, 0, (row) => row)) found.push(row)
    return { asked: requests, found }
  }

  test('of a thousand rows, until one is not full', async () => {
    const { asked: requests, found } = await read(2_500)
    expect(requests).toEqual([
      [0, 1_000],
      [1_000, 1_000],
      [2_000, 1_000],
    ])
    expect(found).toHaveLength(2_500)
    expect(found.at(-1)).toBe(2_500)
    expect((await read(0)).asked).toHaveLength(1)
    expect((await read(1_000)).asked).toHaveLength(2)
  })

  test('let requests run in between', async () => {
    let turns = 0
    let done = false
    const count = () => {
      if (done) return
      turns += 1
      setImmediate(count)
    }
    setImmediate(count)
    await read(3_000)
    done = true
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})
