import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { holds, ledgerEntries, wallets } from '../../src/billing/table'
import type { Tx } from '../../src/kernel/store'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { account, settle, release, verify } = createWorld(store)

const entry = (ref: string, account: string, amount: number, kind = 'grant') => ({
  ref,
  kind,
  account,
  amount,
  at: 0,
  note: null,
})

/** Each fault is made, seen, and undone; the ledger cannot be undone, so those come last. */
describe('verify', () => {
  test('finds nothing wrong with honest books', async () => {
    const ada = await account(1_000)
    await settle(await ada.reserve(100), 40)
    await release(await ada.reserve(100))
    await ada.reserve(100)
    expect(await verify()).toEqual([])
  })

  const reversible = [
    {
      fault: 'a balance somebody edited',
      make: (tx: Tx, owner: string) => setWallet(tx, owner, { balance: 999_999 }),
      undo: (tx: Tx, owner: string) => setWallet(tx, owner, { balance: 960 }),
      says: /wallet user:\S+ has 999999, but its ledger entries add up to 960/,
    },
    {
      fault: 'a claim without a hold',
      make: (tx: Tx, owner: string) => setWallet(tx, owner, { held: 7 }),
      undo: (tx: Tx, owner: string) => setWallet(tx, owner, { held: 0 }),
      says: /wallet user:\S+ has 7 held, but its open holds add up to 0/,
    },
    {
      fault: 'a settlement changed afterwards',
      make: (tx: Tx, owner: string) => setHold(tx, owner, { settled_amount: 10 }),
      undo: (tx: Tx, owner: string) => setHold(tx, owner, { settled_amount: 40 }),
      says: /was settled at 10, but the ledger charges 40/,
    },
    {
      fault: 'a charge whose hold says it was released',
      make: (tx: Tx, owner: string) => setHold(tx, owner, { state: 'released' }),
      undo: (tx: Tx, owner: string) => setHold(tx, owner, { state: 'settled' }),
      says: /is released and yet charged 40/,
    },
  ]

  test.each(['released', 'open'] as const)('finds an amount in a hold that is %s', async (state) => {
    const ada = await account(1_000)
    const ref = await ada.reserve(100)
    if (state === 'released') await release(ref)
    await store.write((tx) => setHold(tx, ada.owner, { settled_amount: 5 }))
    expect((await verify()).join('\n')).toContain(`hold ${ref} is ${state} and yet charged 5`)
    await store.write((tx) => setHold(tx, ada.owner, { settled_amount: 0 }))
    expect(await verify()).toEqual([])
  })

  test.each(reversible)('finds $fault', async ({ make, undo, says }) => {
    const ada = await account(1_000)
    await settle(await ada.reserve(100), 40)
    await store.write((tx) => make(tx, ada.owner))
    expect((await verify()).join('\n')).toMatch(says)
    await store.write((tx) => undo(tx, ada.owner))
    expect(await verify()).toEqual([])
  })

  test('finds a hold that says it charged where no call did', async () => {
    const ada = await account(1_000)
    await settle(await ada.reserve(100), 40)
    const ref = await ada.reserve(60)
    await release(ref)
    const set = (change: { state: 'settled' | 'released'; settled_amount: number }) =>
      store.write(async (tx) => {
        const t = tx.of(holds)
        await tx.update(t).set(change).where(eq(t.ref, ref))
      })
    await set({ state: 'settled', settled_amount: 5 })
    expect(await verify()).toEqual([`billing: wallet ${ada.owner} has 2 settled holds of 45, but 1 charges of 40`])
    await set({ state: 'released', settled_amount: 0 })
    expect(await verify()).toEqual([])
  })

  test('finds a wallet that holds its last entry only', async () => {
    const { caller, owner } = await account(1_000)
    await account(300, caller)
    await store.write((tx) => setWallet(tx, owner, { balance: 300 }))
    expect((await verify()).join()).toContain(`wallet ${owner} has 300, but its ledger entries add up to 1300`)
    await store.write((tx) => setWallet(tx, owner, { balance: 1_300 }))
    expect(await verify()).toEqual([])
  })

  test('finds a movement with one leg, a charge without a hold and an account without a wallet', async () => {
    await store.write(async (tx) => {
      const t = tx.of(ledgerEntries)
      await tx.insert(t).values([entry('lame', 'revenue', 5), entry('ghost', 'revenue', 3, 'settle')])
      // As much too little as the other has too much.
      await tx.insert(t).values([entry('limp', 'revenue', -5)])
      await tx.insert(t).values([entry('nobody', 'user:nobody', -3), entry('nobody', 'issued', 3)])
    })
    const found = (await verify()).join('\n')
    expect(found).toContain('the grant of lame adds up to 5, not to 0')
    expect(found).toContain('the grant of limp adds up to -5, not to 0')
    expect(found).toContain('charges ghost, which has no hold')
    expect(found).toContain('ledger entries name user:nobody, which has no wallet')
  })
})

describe('the ledger', () => {
  test('cannot be changed or cut, by any statement', async () => {
    await account(10)
    await expect(
      store.write(async (tx) => void (await tx.update(tx.of(ledgerEntries)).set({ amount: 0 }))),
    ).rejects.toThrow()
    await expect(store.write(async (tx) => void (await tx.delete(tx.of(ledgerEntries))))).rejects.toThrow()
  })

  test.each([
    ['a balance below zero', { balance: -1, held: 0 }],
    ['a claim below zero', { balance: 5, held: -1 }],
    ['a claim above the balance', { balance: 5, held: 6 }],
  ])('the database itself refuses %s', async (_what, row) => {
    await expect(
      store.write(
        async (tx) => void (await tx.insert(tx.of(wallets)).values({ id: 'user:bad', capped: false, ...row })),
      ),
    ).rejects.toThrow()
  })
})

const setWallet = async (tx: Tx, owner: string, change: { balance?: number; held?: number }) => {
  const t = tx.of(wallets)
  await tx
    .update(t)
    .set(change)
    .where(eq(t.id, owner as never))
}

const setHold = async (tx: Tx, owner: string, change: { settled_amount?: number; state?: 'settled' | 'released' }) => {
  const t = tx.of(holds)
  await tx
    .update(t)
    .set(change)
    .where(eq(t.wallet_id, owner as never))
}
