import { describe, expect, test } from 'bun:test'
import { billingErrors } from '../../src/billing/errors'
import { spendOf } from '../../src/usage'
import { callOf } from '../support/callers'
import { openTestStore } from '../support/store'
import { createWorld, newRef, outcomes } from './world'

const store = await openTestStore()
const CENT = 1_000_000
const DAY = 86_400_000

describe('caps of a key', () => {
  test('the daily cap refuses what would pass it, and names cap and use', async () => {
    const { account, settle } = createWorld(store)
    const ada = await account(100 * CENT, { dailyCapCents: 5 })
    await settle(await ada.reserve(3 * CENT), 3 * CENT)
    await ada.reserve(1 * CENT)
    await expect(ada.reserve(1 * CENT + 1)).rejects.toMatchObject({
      kind: 'unpaid',
      code: 'insufficient_credits',
      message:
        'The daily cap of this key is 5.00 cents, 4.00 of it is spent or reserved and this call reserves up to 1.00. ' +
        'Raise the cap or wait for the next day (UTC). Nothing was charged.',
    })
    await ada.reserve(1 * CENT)
    expect(await ada.balance()).toMatchObject({ held: 2 * CENT })
  })

  test('a refused reservation claims neither credit nor cap', async () => {
    const { account, clock } = createWorld(store)
    const ada = await account(100 * CENT, { monthlyCapCents: 1 })
    await expect(ada.reserve(2 * CENT)).rejects.toMatchObject({ code: 'insufficient_credits' })
    expect(await ada.balance()).toMatchObject({ held: 0 })
    const spend = await spendOf(store.read, ada.caller.keyId, clock.now())
    expect(spend).toEqual({ today: { spent: 0, held: 0 }, month: { spent: 0, held: 0 } })
  })

  test('what a call did not use of its hold is free again', async () => {
    const { account, settle, release } = createWorld(store)
    const ada = await account(100 * CENT, { dailyCapCents: 2 })
    await settle(await ada.reserve(2 * CENT), 1 * CENT)
    await release(await ada.reserve(1 * CENT))
    await ada.reserve(1 * CENT)
    await expect(ada.reserve(1)).rejects.toMatchObject({ code: 'insufficient_credits' })
  })

  test('the day rolls over at 00:00 UTC and the month with it', async () => {
    const { account, settle, clock } = createWorld(store)
    const ada = await account(100 * CENT, { dailyCapCents: 2, monthlyCapCents: 3 })
    clock.advance(29 * DAY + 23.5 * 3_600_000)
    await settle(await ada.reserve(2 * CENT), 2 * CENT)
    await expect(ada.reserve(1)).rejects.toThrow('daily cap')
    clock.advance(1_800_000)
    await settle(await ada.reserve(1 * CENT), 1 * CENT)
    await expect(ada.reserve(1)).rejects.toThrow('monthly cap')
    clock.advance(DAY)
    await ada.reserve(2 * CENT)
  })

  test('work that ends after midnight counts on the day it began', async () => {
    const { account, settle, clock } = createWorld(store)
    const ada = await account(100 * CENT, { dailyCapCents: 2 })
    clock.advance(DAY - 1_000)
    const late = await ada.reserve(2 * CENT)
    clock.advance(2_000)
    await settle(late, 2 * CENT)
    await ada.reserve(2 * CENT)
  })

  test('a cap set while work is under way counts what that work ends up costing', async () => {
    const { account, settle, clock } = createWorld(store)
    const ada = await account(100 * CENT)
    const before = await ada.reserve(2 * CENT)
    const capped = { ...ada.caller, dailyCapCents: 3 }
    await ada.reserve(1 * CENT, undefined, capped)
    await settle(before, 2 * CENT)
    expect((await spendOf(store.read, ada.caller.keyId, clock.now())).today).toEqual({
      spent: 2 * CENT,
      held: 1 * CENT,
    })
    await expect(ada.reserve(1, undefined, capped)).rejects.toThrow('daily cap')
  })

  test('parallel calls at the edge never pass it (I39)', async () => {
    const { account } = createWorld(store)
    for (let round = 0; round < 5; round++) {
      const ada = await account(100_000 * CENT, { dailyCapCents: 10 })
      const served = await outcomes(Array.from({ length: 200 }, () => ada.reserve(1 * CENT)))
      expect(served.filter((outcome) => outcome !== 'insufficient_credits')).toHaveLength(10)
    }
  }, 60_000)
})

describe('before any work', () => {
  test('an empty account is 402', async () => {
    const { account, billing } = createWorld(store)
    const ada = await account(0)
    await expect(billing.assertFunds(store.read, callOf(ada.caller))).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: 'The balance is 0.00 cents. Add credit to continue. Nothing was charged.',
    })
  })

  test('credit that is all on hold is 402', async () => {
    const { account, billing } = createWorld(store)
    const ada = await account(50)
    await ada.reserve(50)
    await expect(billing.assertFunds(store.read, callOf(ada.caller))).rejects.toMatchObject({
      code: 'insufficient_credits',
    })
  })

  test('a cap used to the last micro-cent is 402, one that is not passes', async () => {
    const { account, billing, settle } = createWorld(store)
    const ada = await account(100 * CENT, { dailyCapCents: 1 })
    await settle(await ada.reserve(1 * CENT), CENT - 1)
    await billing.assertFunds(store.read, callOf(ada.caller))
    await settle(await ada.reserve(1), 1)
    await expect(billing.assertFunds(store.read, callOf(ada.caller))).rejects.toThrow('daily cap of this key is 1.00')
  })

  test('of an owner who had plenty nothing is read for a second, unless it is taken here', async () => {
    const { account, billing, clock, start } = createWorld(store)
    const [ada, bob] = [await account(200 * CENT), await account(200 * CENT)]
    const takeAll = ({ owner }: typeof ada, by: typeof billing) =>
      store.write((tx) => by.adjust(tx, { owner, amount: -200 * CENT, ref: newRef(), note: null }))
    for (const { caller } of [ada, bob]) await billing.assertFunds(store.read, callOf(caller))
    await takeAll(ada, start('another process'))
    expect(billing.assertFunds(store.read, callOf(ada.caller))).toBeUndefined()
    clock.advance(1_001)
    const unpaid = { code: 'insufficient_credits' }
    await expect(billing.assertFunds(store.read, callOf(ada.caller))).rejects.toMatchObject(unpaid)
    await billing.assertFunds(store.read, callOf(bob.caller))
    await takeAll(bob, billing)
    await expect(billing.assertFunds(store.read, callOf(bob.caller))).rejects.toMatchObject(unpaid)
  })

  test('only a call that reserves credit receives the amount', () => {
    const textOf = (reserved: number) => billingErrors.capReached('key', 'daily', 5 * CENT, 5 * CENT, reserved).message
    expect(textOf(1)).toContain('and this call reserves up to')
    expect(textOf(0)).toBe(
      'The daily cap of this key is 5.00 cents, 5.00 of it is spent or reserved. ' +
        'Raise the cap or wait for the next day (UTC). Nothing was charged.',
    )
  })
})
