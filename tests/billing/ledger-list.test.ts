import { describe, expect, test } from 'bun:test'
import { listLedger } from '../../src/billing'
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
    // Within a millisecond credit counts as the first.
    clock.advance(1)
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

  test.each(['nonsense', encodeCursor('ledger', { at: Number.NaN, id: '' })])(
    'refuses the cursor %p',
    async (cursor) => {
      const { owner } = await account(10)
      await expect(listLedger(store.read, owner, 1, { cursor })).rejects.toMatchObject({ code: 'validation_error' })
    },
  )

  test('has each entry and each call once, also those of one millisecond, in pages of any size', async () => {
    const ada = await account(1_000)
    for (let n = 1; n <= 8; n++) {
      await settle(await ada.reserve(n), n)
      await store.write((tx) =>
        billing.grant(tx, {
          owner: ada.owner,
          amount: 100 + n,
          ref: `more-${ada.owner}-${n}`,
          kind: 'grant',
          note: null,
        }),
      )
      if (n % 3 === 0) clock.advance(1)
    }
    const whole = (await listLedger(store.read, ada.owner, 100)).items
    expect(whole.map(({ amount }) => amount).sort((a, b) => a - b)).toEqual([
      ...[-8, -7, -6, -5, -4, -3, -2, -1, 101, 102, 103, 104, 105, 106, 107, 108, 1_000],
    ])
    expect(new Set(whole.map(({ id }) => id)).size).toBe(17)
    expect(whole.at(-1)).toMatchObject({ amount: 1_000, balance: 1_000 })
    expect(whole[0]!.balance).toBe((await ada.balance()).balance)
    for (const limit of [1, 3, 16]) {
      const found: unknown[] = []
      let cursor: string | undefined
      do {
        const page = await listLedger(store.read, ada.owner, limit, cursor ? { cursor } : {})
        found.push(...page.items)
        cursor = page.next ?? undefined
      } while (cursor)
      expect(found).toEqual(whole)
    }
  })
})
