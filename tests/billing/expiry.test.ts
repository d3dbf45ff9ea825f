import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OwnerScope } from '../../src/kernel/caller'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const world = createWorld(store)
const { account, settle, release, billing, clock, audit, heard } = world
const HOUR = 3_600_000
let refs = 0

const grant = (owner: OwnerScope, amount: number, expiresAt: number | null, ref = `grant_${++refs}`) =>
  store.write((tx) => billing.grant(tx, { owner, amount, ref, kind: 'grant', note: null, expiresAt }))
const adjust = (owner: OwnerScope, amount: number) =>
  store.write((tx) => billing.adjust(tx, { owner, amount, ref: `adjust_${++refs}`, note: null }))
const left = async (owner: OwnerScope) =>
  (await billing.expiringGrants.of(store.read, owner)).map(({ remaining }) => remaining)

async function pass(ms: number) {
  clock.advance(ms)
  while (await billing.expiringGrants.expireDue());
}

describe('credit that ends', () => {
  test('leaves the balance at its end, and not before', async () => {
    const ada = await account(100)
    await grant(ada.owner, 400, clock.now() + HOUR)
    expect(world.looks).toEqual([clock.now() + HOUR])
    expect(await billing.expiringGrants.dueAt(store.read)).toBe(clock.now() + HOUR)
    await pass(HOUR - 1)
    expect(await ada.balance()).toMatchObject({ balance: 500 })
    await pass(1)
    expect(await ada.balance()).toEqual({ balance: 100, held: 0, available: 100 })
    expect(await left(ada.owner)).toEqual([])
  })

  test('is spent before other credit, and what ends first before what ends later', async () => {
    const ada = await account(1_000)
    await grant(ada.owner, 300, clock.now() + 2 * HOUR)
    await grant(ada.owner, 200, clock.now() + HOUR)
    await settle(await ada.reserve(250), 250)
    expect(await left(ada.owner)).toEqual([250])
    await pass(HOUR)
    expect(await ada.balance()).toMatchObject({ balance: 1_250 })
    await pass(HOUR)
    expect(await ada.balance()).toMatchObject({ balance: 1_000 })
  })

  test('that a call holds at its end can still pay for that call, and what comes free is taken', async () => {
    const ada = await account(0)
    await grant(ada.owner, 500, clock.now() + HOUR)
    const ref = await ada.reserve(300)
    await pass(HOUR)
    expect(await ada.balance()).toEqual({ balance: 300, held: 300, available: 0 })
    await settle(ref, 120)
    await pass(10_000)
    expect(await ada.balance()).toEqual({ balance: 0, held: 0, available: 0 })
    expect(await world.verify()).toEqual([])
  })

  test.each([
    ['one micro-cent of it', 301, 1],
    ['nothing of it', 300, 0],
  ])(
    'is taken in as many movements as it takes, each of its own name: %s is free at its end',
    async (_what, all, free) => {
      const ada = await account(0)
      const ref = `grant_${++refs}`
      await grant(ada.owner, all, clock.now() + HOUR, ref)
      const held = await ada.reserve(300)
      await pass(HOUR)
      expect(await ada.balance()).toEqual({ balance: 300, held: 300, available: 0 })
      await release(held)
      await pass(10_000)
      const taken = (of: string) => billing.amountOf(store.read, { owner: ada.owner, ref: of, kind: 'expire' })
      expect({ first: await taken(ref), second: await taken(`${ref}.1`) }).toEqual(
        free ? { first: -free, second: -300 } : { first: -300, second: null },
      )
      expect(await ada.balance()).toEqual({ balance: 0, held: 0, available: 0 })
      expect(await world.verify()).toEqual([])
    },
  )

  test('held by a call that fails is taken as well', async () => {
    const ada = await account(50)
    await grant(ada.owner, 500, clock.now() + HOUR)
    const ref = await ada.reserve(500)
    await pass(HOUR)
    await release(ref)
    await pass(10_000)
    expect(await ada.balance()).toMatchObject({ balance: 50 })
  })

  test('is granted once for a reference, with the end it was first given', async () => {
    const ada = await account(0)
    expect(await grant(ada.owner, 70, clock.now() + HOUR, 'grant_twice')).toBe(true)
    expect(await grant(ada.owner, 70, clock.now() + 9 * HOUR, 'grant_twice')).toBe(false)
    await pass(HOUR)
    expect(await ada.balance()).toMatchObject({ balance: 0 })
  })

  test('does not become lasting credit because other credit comes and goes', async () => {
    const ada = await account(100)
    await grant(ada.owner, 400, clock.now() + HOUR)
    await adjust(ada.owner, 250)
    await adjust(ada.owner, -250)
    await pass(HOUR)
    expect(await ada.balance()).toMatchObject({ balance: 100 })
  })

  test('stands in the ledger and on the record, and a balance that runs low by it is told of', async () => {
    const ada = await account(0)
    await grant(ada.owner, 600_000_000, clock.now() + HOUR, 'grant_told')
    heard.length = 0
    await pass(HOUR)
    expect(heard.map(({ type }) => type)).toEqual(['credits.low'])
    expect((await audit.list(store.read, ada.owner, { limit: 1 })).items[0]).toMatchObject({
      action: 'credits.expired',
      entityType: 'billing',
      inputSummary: { metadata: { amount_cents: 600, ref: 'grant_told' } },
    })
    expect(await world.verify()).toEqual([])
  })

  test('of many owners is taken when one of them cannot give it yet', async () => {
    const busy = await account(0)
    await grant(busy.owner, 10, clock.now() + HOUR)
    const ref = await busy.reserve(10)
    const others = await Promise.all(Array.from({ length: 5 }, () => account(0)))
    for (const { owner } of others) await grant(owner, 10, clock.now() + HOUR)
    clock.advance(HOUR)
    for (let turn = 0; turn < 7; turn++) await billing.expiringGrants.expireDue(1)
    for (const other of others) expect(await other.balance()).toMatchObject({ balance: 0 })
    await release(ref)
    await pass(10_000)
  })

  test('is checked a hundred grants at a time', async () => {
    const ada = await account(0)
    await store.write(async (tx) => {
      for (let made = 0; made < 130; made++) {
        const input = { owner: ada.owner, amount: 1, ref: `many_${made}`, kind: 'grant', note: null } as const
        await billing.grant(tx, { ...input, expiresAt: clock.now() + HOUR })
      }
    })
    clock.advance(HOUR)
    expect(await billing.expiringGrants.expireDue()).toBe(100)
    expect(await ada.balance()).toMatchObject({ balance: 0 })
    expect(await billing.expiringGrants.expireDue()).toBe(0)
  })

  test('and two that take it at once take it once', async () => {
    const ada = await account(30)
    await grant(ada.owner, 400, clock.now() + HOUR)
    clock.advance(HOUR)
    await Promise.all(Array.from({ length: 8 }, () => billing.expiringGrants.expireDue()))
    expect(await ada.balance()).toMatchObject({ balance: 30 })
  })
})

type Step =
  | { do: 'grant'; cents: number; hours: number | null }
  | { do: 'spend'; cents: number }
  | { do: 'adjust'; cents: number }
  | { do: 'wait'; hours: number }

const amount = fc.integer({ min: 1, max: 500 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('grant' as const),
      cents: amount,
      hours: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
    }),
    fc.record({ do: fc.constant('spend' as const), cents: amount }),
    fc.record({ do: fc.constant('adjust' as const), cents: amount }),
    fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 4 }) }),
  ),
  { minLength: 5, maxLength: 30 },
)

/** Every unit of credit on its own pile, spent from the pile that ends first. */
function createPiles() {
  let piles: { left: number; ends: number }[] = []
  const sum = () => piles.reduce((all, { left }) => all + left, 0)
  return {
    sum,
    add: (left: number, ends: number) => piles.push({ left, ends }),
    spend(wanted: number) {
      let due = wanted
      for (const pile of piles.sort((one, other) => one.ends - other.ends)) {
        const taken = Math.min(pile.left, due)
        pile.left -= taken
        due -= taken
      }
    },
    end: (now: number) => {
      piles = piles.filter(({ ends }) => ends > now)
    },
  }
}

test('whatever happens, a balance is what a count of every pile says', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const ada = await account(0)
      const piles = createPiles()
      for (const step of sequence) {
        if (step.do === 'grant') {
          const ends = step.hours === null ? null : clock.now() + step.hours * HOUR
          await grant(ada.owner, step.cents, ends)
          piles.add(step.cents, ends ?? Number.POSITIVE_INFINITY)
        } else if (step.do === 'adjust') {
          await adjust(ada.owner, step.cents)
          piles.add(step.cents, Number.POSITIVE_INFINITY)
        } else if (step.do === 'spend') {
          const cost = Math.min(step.cents, piles.sum())
          if (cost > 0) await settle(await ada.reserve(cost), cost)
          piles.spend(cost)
        } else {
          await pass(step.hours * HOUR)
          piles.end(clock.now())
        }
        expect((await ada.balance()).balance).toBe(piles.sum())
      }
    }),
    { numRuns: 60 },
  )
  expect(await world.verify()).toEqual([])
}, 60_000)
