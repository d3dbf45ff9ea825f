import { describe, expect, test } from 'bun:test'
import { openTestStore } from '../support/store'
import { createWorld, newRef, outcomes } from './world'

const store = await openTestStore()
const { account, settle, release, verify, billing } = createWorld(store)

describe('a hold', () => {
  test('claims credit, and its settlement books the true cost', async () => {
    const ada = await account(1_000)
    const ref = await ada.reserve(400)
    expect(await ada.balance()).toEqual({ balance: 1_000, held: 400, available: 600 })
    expect(await settle(ref, 150)).toBe(150)
    expect(await ada.balance()).toEqual({ balance: 850, held: 0, available: 850 })
  })

  test('that is released charges nothing', async () => {
    const ada = await account(1_000)
    expect(await release(await ada.reserve(400))).toBe(true)
    expect(await ada.balance()).toEqual({ balance: 1_000, held: 0, available: 1_000 })
  })

  test('ends once, whichever end comes first (I8, I9)', async () => {
    const ada = await account(1_000)
    const settled = await ada.reserve(100)
    expect(await settle(settled, 60)).toBe(60)
    expect(await settle(settled, 60)).toBe(0)
    expect(await release(settled)).toBe(false)
    const released = await ada.reserve(100)
    expect(await release(released)).toBe(true)
    expect(await settle(released, 60)).toBe(0)
    expect(await release(released)).toBe(false)
    expect(await ada.balance()).toEqual({ balance: 940, held: 0, available: 940 })
  })

  test('ends once when fifty retries race to end it', async () => {
    const ada = await account(1_000)
    const ref = await ada.reserve(100)
    const ends = await Promise.all(Array.from({ length: 50 }, (_, turn) => (turn % 2 ? release(ref) : settle(ref, 70))))
    const charged = ends.filter((end) => typeof end === 'number').reduce((sum, end) => sum + Number(end), 0)
    const released = ends.filter((end) => end === true).length
    expect(charged === 70 ? released : charged + released).toBe(charged === 70 ? 0 : 1)
    expect((await ada.balance()).held).toBe(0)
  })

  test.each([
    ['more than it held (G8)', 5_000, 400],
    ['an absurd number', 1e18, 400],
    ['infinity', Number.POSITIVE_INFINITY, 400],
    ['less than nothing (G7)', -50, 0],
    ['no number', Number.NaN, 0],
    ['a fraction', 0.4, 0],
  ])('settled at %s charges what it may', async (_what, cost, charged) => {
    const ada = await account(1_000)
    expect(await settle(await ada.reserve(400), cost)).toBe(charged)
    expect(await ada.balance()).toEqual({ balance: 1_000 - charged, held: 0, available: 1_000 - charged })
  })

  test('of nothing writes nothing, and its end charges nothing', async () => {
    const ref = await (await account(0)).reserve(0)
    expect(await settle(ref, 99)).toBe(0)
    expect(await release(ref)).toBe(false)
  })

  test('cannot be taken twice under one ref', async () => {
    const ada = await account(1_000)
    await expect(ada.reserve(100, await ada.reserve(100))).rejects.toThrow()
    expect(await ada.balance()).toMatchObject({ held: 100 })
  })
})

describe('no overdraft', () => {
  test('one micro-cent short is 402 and says what is there and what was wanted (G2)', async () => {
    const ada = await account(399_999)
    await expect(ada.reserve(400_000)).rejects.toMatchObject({
      kind: 'unpaid',
      code: 'insufficient_credits',
      message:
        'The balance is 0.40 cents and this call reserves up to 0.40. Add credit or shorten the prompt. Nothing was charged.',
    })
    expect(await ada.balance()).toEqual({ balance: 399_999, held: 0, available: 399_999 })
  })

  test('an account without credit has a balance of zero', async () => {
    await expect((await account(0)).reserve(1)).rejects.toMatchObject({ code: 'insufficient_credits' })
  })

  test('credit for exactly ten serves exactly ten of two hundred at once (I7)', async () => {
    for (let round = 0; round < 20; round++) {
      const ada = await account(10 * 7_500)
      const served = await outcomes(Array.from({ length: 200 }, () => ada.reserve(7_500)))
      expect(served.filter((outcome) => outcome === 'insufficient_credits')).toHaveLength(190)
      const refs = served.filter((outcome) => outcome !== 'insufficient_credits')
      expect(await Promise.all(refs.map((ref) => settle(ref, 7_500)))).toEqual(Array(10).fill(7_500))
      expect(await ada.balance()).toEqual({ balance: 0, held: 0, available: 0 })
    }
  })

  test('two thousand charges of 0.01 cent sum exactly (G16)', async () => {
    const ada = await account(2_000 * 10_000)
    for (let batch = 0; batch < 2; batch++) {
      await store.write(async (tx) => {
        for (let charge = 0; charge < 1_000; charge++) {
          const ref = newRef()
          const caps = { daily: null, monthly: null }
          const hold = await billing.reserve(tx, { owner: ada.owner, keyId: null, caps, ref, amount: 10_000 })
          await billing.settleApart(tx, hold!, 10_000)
        }
      })
    }
    expect(await ada.balance()).toEqual({ balance: 0, held: 0, available: 0 })
  })
})

test('after all of that the books hold (I6, I8)', async () => {
  expect(await verify()).toEqual([])
}, 30_000)
