import { describe, expect, test } from 'bun:test'
import { subscribe } from '../../src/events'
import { subscribersOf } from '../../src/events/repository'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Tx } from '../../src/kernel/store'
import { openTestStore } from '../support/store'

const store = await openTestStore()

let owners = 0
/** A new owner, of whom it was asked before that nobody is subscribed to `door` events. */
async function quietOwner() {
  const owner: OwnerScope = `user:${++owners}`
  expect(await reached(owner)).toBe(0)
  return owner
}

const countOf = async (tx: Tx, owner: OwnerScope, type = 'door.rung') => (await subscribersOf(tx, owner, type)).size
const reached = (owner: OwnerScope, type?: string) => store.write((tx) => countOf(tx, owner, type))
const webhookOf = (owner: OwnerScope) => ({ owner, subscriber: 'webhook' as const, target: `whk_of_${owner}` })
const listen = (tx: Tx, owner: OwnerScope, pattern: string | null = 'door.*') =>
  subscribe(tx, webhookOf(owner), pattern ? [pattern] : [])

describe('what nobody was subscribed to', () => {
  test('reaches a new subscriber, in the same unit and after it', async () => {
    const owner = await quietOwner()
    await store.write(async (tx) => {
      await listen(tx, owner, '*')
      expect(await countOf(tx, owner)).toBe(1)
    })
    expect(await reached(owner)).toBe(1)
    expect(await reached(owner, 'other.thing')).toBe(1)
    expect(await reached(await quietOwner())).toBe(0)
  })

  test('reaches nobody once the subscription has ended, and somebody when it comes back', async () => {
    const owner = await quietOwner()
    for (const pattern of ['door.rung', null, 'door.rung']) {
      await store.write((tx) => listen(tx, owner, pattern))
      const wanted = pattern ? 1 : 0
      expect({ first: await reached(owner), second: await reached(owner) }).toEqual({ first: wanted, second: wanted })
    }
  })

  test('reaches those who subscribe in the same commit, after the event or in a unit that is undone', async () => {
    const owner: OwnerScope = `user:${++owners}`
    const counts = Promise.all([
      reached(owner),
      store.write((tx) => listen(tx, owner)),
      reached(owner),
      store
        .write(async (tx) => {
          await listen(tx, owner, null)
          expect(await countOf(tx, owner)).toBe(0)
          throw new Error('undone')
        })
        .catch(() => 'undone'),
    ])
    // On Postgres each unit has a transaction of its own, so it depends on their order what the first ones see.
    if (store.dialect === 'sqlite') expect(await counts).toEqual([0, undefined, 1, 'undone'])
    await counts
    expect({ first: await reached(owner), second: await reached(owner) }).toEqual({ first: 1, second: 1 })
  })
})
