import { describe, expect, test } from 'bun:test'
import { readBrandSoul } from '../../../src/accounts/keys/rules'
import { openTestStore } from '../../support/store'
import { createWorld } from './world'

const store = await openTestStore()

describe('a brand soul', () => {
  const facts = (characters: number) => ({ knowledge: ['x'.repeat(characters - 30)], persona: 'y'.repeat(10) })
  const more = { tone: 'z'.repeat(10), constraints: ['w'.repeat(10)] }

  test('has 40,000 characters in all at most, as they are paid for with every prompt', () => {
    expect(readBrandSoul({ ...facts(40_000), ...more })).toMatchObject({ enabled: true, persona: 'y'.repeat(10) })
    expect(() => readBrandSoul({ ...facts(40_001), ...more })).toThrow(
      '"brand_soul" has 40001 characters; at most 40000 are allowed in all.',
    )
  })

  test('has nothing that it was not given', () => {
    expect(readBrandSoul({})).toEqual({ enabled: true, persona: '', tone: '', knowledge: [], constraints: [] })
    const odd = { enabled: false, colour: 'red' }
    expect(readBrandSoul(odd)).toEqual({ enabled: false, persona: '', tone: '', knowledge: [], constraints: [] })
  })

  test('is of its key alone, and of none once it is disabled', async () => {
    const { keys, addUser, withKey, lookup } = createWorld(store)
    const ada = await addUser()
    const soul = { enabled: true, persona: 'A librarian', tone: '', knowledge: [], constraints: [] }
    const [souled, plain] = [await withKey(ada.id, { brand_soul: soul }), await withKey(ada.id)]
    const soulOf = (id: typeof plain.key.id) => keys.brandSoulOf(store.read, id)
    expect([await soulOf(souled.key.id), await soulOf(plain.key.id)]).toEqual([soul, null])
    const flags = async () =>
      Promise.all([souled, plain].map(async ({ key }) => (await lookup.find(key.key))!.hasBrandSoul))
    expect(await flags()).toEqual([true, false])
    await keys.update(souled.call, souled.key.id, { brand_soul: { ...soul, enabled: false } })
    expect([await soulOf(souled.key.id), await flags()]).toEqual([null, [false, false]])
  })
})
