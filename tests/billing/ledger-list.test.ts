import { describe, expect, test } from 'bun:test'
import { listLedger } from '../../src/billing'
import { ledgerEntries } from '../../src/billing/table'
import type { OwnerScope } from '../../src/kernel/caller'
import { encodeCursor } from '../../src/kernel/page'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { account, billing, clock, settle, release } = createWorld(store)

const amountsOf = async (owner: OwnerScope, limit: number, more: { cursor?: string; ref?: string } = {}) => {
  const { items, next } = await listLedger(store.read, owner, limit, more)
  return { rows: items.map(({ amount, balance }) => [amount, balance]), next }
}

describe('the ledger of an owner', () => {
  test('is newest first, each row with the balance after it, and of nobody else', async () => {
    const [ada, eve] = [await account(1_000), await account(500)]
    const grant = { owner: ada.owner, amount: 50, ref: 'noted', kind: 'grant', note: 'thanks' } as const
    for (const cost of [10, 20]) await settle(await ada.reserve(cost), cost)
    await settle(await eve.reserve(5), 5)
    await store.write((tx) => billing.grant(tx, grant))
    expect(await amountsOf(ada.owner, 10)).toEqual({
      rows: [
        [50, 1_020],
        [-20, 970],
        [-10, 990],
        [1_000, 1_000],
      ],
      next: null,
    })
    const [newest] = (await listLedger(store.read, ada.owner, 1)).items
    expect(newest).toEqual({
      ...{ id: expect.any(Number), ref: 'noted', kind: 'grant', amount: 50, balance: 1_020 },
      ...{ at: clock.now(), note: 'thanks' },
    })
  })

  test('goes on where a page ended, whatever was booked since', async () => {
    const ada = await account(1_000)
    for (const cost of [10, 20, 30]) await settle(await ada.reserve(cost), cost)
    const first = await amountsOf(ada.owner, 2)
    expect(first.rows).toEqual([
      [-30, 940],
      [-20, 970],
    ])
    await settle(await ada.reserve(40), 40)
    const second = await amountsOf(ada.owner, 2, { cursor: first.next! })
    expect(second.rows).toEqual([
      [-10, 990],
      [1_000, 1_000],
    ])
    // Rows of others may come before: whether there are more is known once they were looked at.
    const rest = second.next ? await amountsOf(ada.owner, 2, { cursor: second.next }) : { rows: [], next: null }
    expect(rest).toEqual({ rows: [], next: null })
  })

  test('has nothing for an owner whom nobody ever credited', async () => {
    expect(await amountsOf((await account(0)).owner, 5)).toEqual({ rows: [], next: null })
  })

  test('has no row of a call that cost nothing, settled or released', async () => {
    const ada = await account(1_000)
    await settle(await ada.reserve(100), 0)
    await release(await ada.reserve(100))
    expect((await amountsOf(ada.owner, 5)).rows).toEqual([[1_000, 1_000]])
  })

  test('by reference has those rows alone, with the balance they left', async () => {
    const ada = await account(1_000)
    await settle(await ada.reserve(10, 'abc.req_wanted'), 10)
    await settle(await ada.reserve(20, 'abd.req_other'), 20)
    await settle(await ada.reserve(30, 'abe.notreq_wanted'), 30)
    expect((await amountsOf(ada.owner, 10, { ref: 'req_wanted' })).rows).toEqual([[-10, 990]])
    expect((await amountsOf(ada.owner, 10, { ref: 'abd.req_other' })).rows).toEqual([[-20, 970]])
    expect((await amountsOf(ada.owner, 10, { ref: 'req_' })).rows).toEqual([])
  })

  test.each(['nonsense', encodeCursor({ at: Number.NaN, id: '' })])('refuses the cursor %p', async (cursor) => {
    const { owner } = await account(10)
    await expect(listLedger(store.read, owner, 1, { cursor })).rejects.toMatchObject({ code: 'validation_error' })
  })

  test('has each row once, also where one step ends and the next begins', async () => {
    const ada = await account(1_000)
    const STEP = 50_000
    const far = 1_000_000
    const ids = [
      far,
      far - STEP + 1,
      far - STEP,
      far - STEP - 1,
      far - 2 * STEP + 1,
      far - 2 * STEP,
      far - 2 * STEP - 1,
    ]
    await store.write(async (tx) => {
      const row = { kind: 'grant', account: ada.owner, amount: 1, at: 0, note: null }
      await tx.insert(tx.of(ledgerEntries)).values(ids.map((id) => ({ ...row, id, ref: `step-${id}` })) as never)
    })
    for (const limit of [100, 3]) {
      const found: number[] = []
      let cursor: string | undefined
      do {
        const page = await listLedger(store.read, ada.owner, limit, cursor ? { cursor } : {})
        found.push(...page.items.map(({ id }) => id))
        cursor = page.next ?? undefined
      } while (cursor)
      expect(found).toEqual([...ids, expect.any(Number)])
    }
  })

  test('of few rows in a long one is found step by step, a million rows a page', async () => {
    const ada = await account(1_000)
    const t = store.read.of(ledgerEntries)
    const [{ newest }] = (await listLedger(store.read, ada.owner, 1)).items.map(({ id }) => ({ newest: id })) as [
      { newest: number },
    ]
    const far = newest + 2_500_000
    await store.write(async (tx) => {
      const other = { ref: 'far', kind: 'grant', account: 'revenue', amount: 0, at: 0, note: null }
      await tx.insert(t).values({ ...other, id: far } as never)
    })
    const pages: number[] = []
    let cursor: string | undefined
    do {
      const page = await amountsOf(ada.owner, 1, cursor ? { cursor } : {})
      pages.push(page.rows.length)
      cursor = page.rows.length ? undefined : (page.next ?? undefined)
    } while (cursor)
    expect(pages).toEqual([0, 0, 1])
  })
})
