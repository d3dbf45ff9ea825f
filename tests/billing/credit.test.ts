import { describe, expect, test } from 'bun:test'
import { centsToMicro, MAX_CENTS } from '../../src/kernel/money'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { account, billing, settle, start, verify } = createWorld(store)

describe('credit', () => {
  test('is given once a ref, however often and however parallel it is told (G10)', async () => {
    const ada = await account(0)
    const grant = () =>
      store.write((tx) =>
        billing.grant(tx, { owner: ada.owner, amount: 500, ref: `pay-${ada.owner}`, kind: 'purchase', note: 'evt_1' }),
      )
    expect((await Promise.all(Array.from({ length: 100 }, grant))).filter(Boolean)).toHaveLength(1)
    expect(await ada.balance()).toMatchObject({ balance: 500 })
  })

  test('of one ref is of one owner, and both sides of it stand in the ledger', async () => {
    const [ada, eve] = [await account(0), await account(0)]
    const ref = `order-${ada.owner}`
    const order = (owner: typeof ada.owner, amount: number) => ({ owner, amount, ref, note: null })
    const grant = (owner: typeof ada.owner, amount: number) =>
      store.write((tx) => billing.grant(tx, { ...order(owner, amount), kind: 'grant' }))
    const adjust = (owner: typeof ada.owner, amount: number) =>
      store.write((tx) => billing.adjust(tx, order(owner, amount)))
    for (const move of [grant, adjust]) {
      expect(await move(ada.owner, 500)).toBe(true)
      expect(await move(ada.owner, 500)).toBe(false)
      await expect(move(eve.owner, 500)).rejects.toMatchObject({ code: 'idempotency_conflict' })
    }
    expect({ ada: (await ada.balance()).balance, eve: (await eve.balance()).balance }).toEqual({ ada: 1_000, eve: 0 })
    expect(await verify()).toEqual([])
  })

  test('is exact to the micro-cent up to the most there can be, and no wallet holds more', async () => {
    const max = centsToMicro(MAX_CENTS)
    const ada = await account(max - 1)
    const grant = (amount: number, ref: string) =>
      store.write((tx) =>
        billing.grant(tx, { owner: ada.owner, amount, ref: `${ref}-${ada.owner}`, kind: 'grant', note: null }),
      )
    await expect(grant(2, 'over')).rejects.toMatchObject({ code: 'conflict' })
    const adjusted = store.write((tx) =>
      billing.adjust(tx, { owner: ada.owner, amount: max, ref: `more-${ada.owner}`, note: null }),
    )
    await expect(adjusted).rejects.toMatchObject({ code: 'conflict' })
    expect(await grant(1, 'full')).toBe(true)
    expect(await ada.balance()).toMatchObject({ balance: max })
    await settle(await ada.reserve(1), 1)
    expect(await ada.balance()).toMatchObject({ balance: max - 1 })
    await expect(grant(0, 'none')).rejects.toMatchObject({ code: 'validation_error' })
  })

  test('can be corrected down to what no hold claims, and not further', async () => {
    const ada = await account(1_000_000)
    await ada.reserve(400_000)
    const adjust = (amount: number, ref: string) =>
      store.write((tx) => billing.adjust(tx, { owner: ada.owner, amount, ref: `${ref}-${ada.owner}`, note: 'wrong' }))
    await expect(adjust(-600_001, 'a')).rejects.toMatchObject({
      code: 'conflict',
      message: '0.60 cents cannot be deducted: only 0.60 cents are available. Nothing was changed.',
    })
    expect(await adjust(-600_000, 'a')).toBe(true)
    expect(await adjust(-600_000, 'a')).toBe(false)
    expect(await adjust(50, 'b')).toBe(true)
    expect(await ada.balance()).toEqual({ balance: 400_050, held: 400_000, available: 50 })
  })

  test('of a new account is what the setting says, once', async () => {
    const generous = start('n', 700)
    const ada = await account(0)
    for (let again = 0; again < 3; again++) await store.write((tx) => generous.openAccount(tx, ada.owner))
    expect(await ada.balance()).toMatchObject({ balance: 700 })
    const stingy = await account(0)
    await store.write((tx) => billing.openAccount(tx, stingy.owner))
    expect(await stingy.balance()).toMatchObject({ balance: 0 })
  })
})

test('the books hold', async () => {
  expect(await verify()).toEqual([])
})
