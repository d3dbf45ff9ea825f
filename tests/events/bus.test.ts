import { describe, expect, test } from 'bun:test'
import { createEventBus, defineEvent, defineInternalEvent, EventId } from '../../src/events'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const rung = defineEvent<{ door: string }>('door.rung')
const oiled = defineInternalEvent<{ door: string }>('door.oiled')

function createWorld() {
  const failures: [string, unknown][] = []
  const heard: string[] = []
  const bus = createEventBus({ clock: fakeClock(), onError: (type, error) => failures.push([type, error]) })
  return { bus, failures, heard }
}

describe('an event', () => {
  test('reaches those in the unit first, in the order they came, and the others after the commit', async () => {
    const { bus, heard } = createWorld()
    bus.afterCommit('*', (event) => heard.push(`after * ${event.type}`))
    bus.afterCommit(rung, ({ data }) => heard.push(`after ${data.door}`))
    bus.inTransaction(rung, async (_tx, { data }) => {
      heard.push(`first ${data.door}`)
    })
    bus.inTransaction('*', async (_tx, event) => {
      heard.push(`second ${event.type}`)
    })
    await store.write(async (tx) => {
      await bus.emit(tx, rung, 'user:u', { door: 'front' })
      heard.push('end of unit')
    })
    expect(heard).toEqual(['first front', 'second door.rung', 'end of unit', 'after * door.rung', 'after front'])
  })

  test('carries an id, its name, its owner, its time and its facts', async () => {
    const { bus } = createWorld()
    const event = await store.write(async (tx) => bus.emit(tx, rung, 'org:o', { door: 'back' }))
    expect(event).toEqual({
      id: event.id,
      type: 'door.rung',
      scope: 'org:o',
      created: Date.parse('2026-01-01'),
      depth: 0,
      data: { door: 'back' },
    })
    expect(EventId.is(event.id)).toBe(true)
  })

  test('is known to be ignored if each listener ignores it, and then reaches none', async () => {
    const { bus, heard } = createWorld()
    bus.inTransaction(
      rung,
      async (_tx, { data }) => void heard.push(data.door),
      (_tx, _owner, _type, { door }) => door === 'back',
    )
    bus.inTransaction(
      '*',
      async (_tx, { scope }) => void heard.push(scope),
      (_tx, owner) => owner === 'org:o',
    )
    const isIgnored = (owner: 'org:o' | 'org:p', door: string) =>
      store.write(async (tx) => {
        await bus.emit(tx, rung, owner, { door })
        return bus.isIgnored(tx, rung, owner, { door })
      })
    expect(await isIgnored('org:o', 'back')).toBe(true)
    expect(heard).toEqual([])
    expect(await isIgnored('org:o', 'front')).toBe(false)
    expect(await isIgnored('org:p', 'back')).toBe(false)
    expect(heard).toEqual(['front', 'org:p'])
    bus.afterCommit(rung, () => undefined)
    expect(await isIgnored('org:o', 'back')).toBe(false)
  })

  test('is not heard of afterwards when its unit is undone', async () => {
    const { bus, heard } = createWorld()
    bus.afterCommit(rung, () => heard.push('after'))
    const unit = store.write(async (tx) => {
      await bus.emit(tx, rung, 'user:u', { door: 'front' })
      throw new Error('changed my mind')
    })
    expect(unit).rejects.toThrow('changed my mind')
    await unit.catch(() => undefined)
    expect(heard).toEqual([])
  })

  test('undoes its unit when a listener in it fails', async () => {
    const { bus } = createWorld()
    bus.inTransaction(rung, async () => {
      throw new Error('no room')
    })
    expect(store.write(async (tx) => bus.emit(tx, rung, 'user:u', { door: 'front' }))).rejects.toThrow('no room')
  })

  test('stands when a listener after the commit fails, which is reported, and the others still hear', async () => {
    const { bus, heard, failures } = createWorld()
    bus.afterCommit(rung, () => {
      throw new Error('deaf')
    })
    bus.afterCommit(rung, () => heard.push('heard'))
    await store.write(async (tx) => bus.emit(tx, rung, 'user:u', { door: 'front' }))
    expect({ heard, failures }).toEqual({ heard: ['heard'], failures: [['door.rung', new Error('deaf')]] })
  })

  test('between rooms is not for those who listen to everything', async () => {
    const { bus, heard } = createWorld()
    bus.afterCommit('*', () => heard.push('everything'))
    bus.inTransaction('*', async () => {
      heard.push('everything, inside')
    })
    bus.afterCommit(oiled, ({ data }) => heard.push(data.door))
    await store.write(async (tx) => bus.emit(tx, oiled, 'user:u', { door: 'back' }))
    expect(heard).toEqual(['back'])
  })
})
