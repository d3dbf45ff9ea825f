// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { verifyChains } from '../../src/audit/service'
import { LOW_BALANCE_CENTS } from '../../src/billing/config'
import { type Hold, payerOf } from '../../src/billing/schema'
import { AppError } from '../../src/kernel/errors'
import { openTestStore } from '../support/store'
import { createWorld, endOf, newRef, outcomes } from './world'

const store = await openTestStore()
const { account, billing, ending, heard, usage, verify } = createWorld(store)

type Account = Awaited<ReturnType<typeof account>>

const reserve = async (of: Account, amount: number): Promise<Hold> => {
  const hold = await store.writeTogether(billing.reserveAll, { ...payerOf(of.caller), ref: newRef(), amount }, true)
  if (hold instanceof AppError) throw hold
  return hold
}

const end = ({ caller }: Account, hold: Hold, cost: number) => ending.end(endOf(caller, hold, cost))

/** In a unit: on SQLite a hold is seen by readers with the next commit. */
const balanceOf = ({ owner }: Account) => store.write((tx) => billing.balance(tx, owner))

const soundness = async () => [...(await verify()), ...(await verifyChains(store.read))]

describe('calls that end together', () => {
  test('are each charged and recorded once, in the chain of their owner', async () => {
    const accounts = await Promise.all([1_000, 1_000, 1_000, 1_000].map((credit) => account(credit)))
    const calls = Array.from({ length: 80 }, (_, n) => ({ of: accounts[n % 4]!, cost: 1 + (n % 9) }))
    const holds = await Promise.all(calls.map(({ of }) => reserve(of, 10)))
    expect((await balanceOf(accounts[0]!)).held).toBe(200)
    const charged = await Promise.all(calls.map(({ of, cost }, n) => end(of, holds[n]!, cost)))
    expect(charged).toEqual(calls.map(({ cost }) => cost))
    for (const of of accounts) {
      const spent = calls.filter((call) => call.of === of).reduce((sum, { cost }) => sum + cost, 0)
      expect(await balanceOf(of)).toEqual({ balance: 1_000 - spent, held: 0, available: 1_000 - spent })
      expect((await usage.spent(store.read, of.caller.keyId)).today).toEqual({ spent: spent, held: 0 })
    }
    expect(await soundness()).toEqual([])
  })

  test('tell of a low balance once, at the call that crosses the threshold', async () => {
    const cents = 1_000_000
    const ada = await account((LOW_BALANCE_CENTS + 2) * cents)
    const holds = await Promise.all(Array.from({ length: 12 }, () => reserve(ada, cents)))
    const before = heard.length
    await Promise.all(holds.map((hold) => end(ada, hold, cents)))
    const low = heard.slice(before).filter(({ type }) => type === 'credits.low')
    expect(low.map(({ data }) => data)).toMatchObject([{ balance_cents: LOW_BALANCE_CENTS - 1 }])
  })

  test('that end the same hold charge it once', async () => {
    const ada = await account(1_000)
    const hold = await reserve(ada, 100)
    const charged = await Promise.all([1, 2, 3].map(() => end(ada, hold, 40)))
    expect(charged.sort()).toEqual([0, 0, 40])
    expect(await balanceOf(ada)).toMatchObject({ balance: 960, held: 0 })
    expect(await soundness()).toEqual([])
  })

  test('are kept where one among them fails, and that one leaves nothing', async () => {
    const ada = await account(1_000)
    const holds = await Promise.all(Array.from({ length: 6 }, () => reserve(ada, 100)))
    const notices: number[] = []
    const ends = await Promise.allSettled(
      holds.map((hold, n) =>
        ending.end({
          ...endOf(ada.caller, hold, 10),
          tell(tx) {
            tx.afterCommit(() => notices.push(n))
            return n === 3 ? Promise.reject(new Error('it cannot end')) : null
          },
        }),
      ),
    )
    expect(ends.map(({ status }) => status)).toEqual(holds.map((_, n) => (n === 3 ? 'rejected' : 'fulfilled')))
    expect(notices.sort()).toEqual([0, 1, 2, 4, 5])
    expect(await balanceOf(ada)).toMatchObject({ balance: 950, held: 100 })
    expect(await soundness()).toEqual([])
  })
})

test('holds that are claimed together (I7) of an account with enough for ten are ten', async () => {
  for (let round = 0; round < 3; round++) {
    const [ada, eve] = [await account(10 * 7_500), await account(1_000_000)]
    const claims = Array.from({ length: 100 }, () => [reserve(ada, 7_500), reserve(eve, 1)]).flat()
    expect((await outcomes(claims)).filter((outcome) => outcome !== 'insufficient_credits')).toHaveLength(110)
    expect(await balanceOf(ada)).toMatchObject({ held: 75_000, available: 0 })
    expect(await balanceOf(eve)).toMatchObject({ held: 100 })
  }
  expect(await soundness()).toEqual([])
})
