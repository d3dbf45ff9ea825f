import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { createLive, eitherWire, type LiveMessage } from '../../../src/cluster'
import { systemClock } from '../../../src/kernel/clock'
import { openPostgres, type Wire } from '../../../src/kernel/store'
import { eventually } from '../../support/eventually'
import { createPostgresDatabase, postgresUrl } from '../../support/store'

if (!postgresUrl)
  process.stdout.write('NOT RUN: what processes tell each other, because SVC_TEST_POSTGRES_URL is not set.\n')

const onError = () => undefined
const process_ = (node: string, wire: Wire | null) => createLive({ wire, node, clock: systemClock, onError })

test('tells listeners of the same process at once: of one id, and of all', () => {
  const live = process_('one', null)
  const heard: (LiveMessage | null)[] = []
  const stop = live.subscribe('room', 'a', (one) => heard.push(one))
  const stopAll = live.subscribe('room', '*', (one) => heard.push(one && { ...one, all: true }))
  live.publish('room', 'a', { what: 'message' })
  live.publish('room', 'b')
  live.publish('elsewhere', 'a')
  expect(heard).toEqual([
    { id: 'a', what: 'message' },
    { id: 'a', what: 'message', all: true },
    { id: 'b', all: true },
  ])
  stop()
  stopAll()
  expect(live.listening('room', 'a')).toBe(false)
  live.publish('room', 'a')
  expect(heard).toHaveLength(3)
})

test('a failing listener does not affect the others', () => {
  const failed: string[] = []
  const live = createLive({ wire: null, node: 'one', clock: systemClock, onError: (name) => failed.push(name) })
  let heard = 0
  live.subscribe('room', 'a', () => {
    throw new Error('no')
  })
  live.subscribe('room', 'a', () => {
    heard += 1
  })
  live.publish('room', 'a')
  expect({ failed, heard }).toEqual({ failed: ['live'], heard: 1 })
})

/** A wire of this process that can be cut. */
function scriptedWire() {
  const ears = new Set<(text: string) => void>()
  let isCut = false
  const wire: Wire = {
    send: async (text) => {
      if (isCut) throw new Error('cut')
      for (const ear of ears) ear(text)
    },
    hear: async (text, again) => {
      if (isCut) throw new Error('cut')
      ears.add(text)
      again()
      return async () => {
        ears.delete(text)
      }
    },
    hearing: () => !isCut && ears.size > 0,
  }
  const cut = (now: boolean) => {
    isCut = now
    ears.clear()
  }
  return { wire, cut, ears }
}

test('two wires are one: while the first is away all goes over the second, and nothing comes twice', async () => {
  const [first, second] = [scriptedWire(), scriptedWire()]
  const heard: string[] = []
  const wire = eitherWire(first.wire, second.wire)
  const hear = () =>
    wire.hear(
      (text) => heard.push(text),
      () => heard.push('again'),
    )
  await hear()
  await wire.send('a')
  first.cut(true)
  for (let tries = 0; tries < 3; tries++) await hear()
  await wire.send('b')
  expect(wire.hearing()).toBe(false)
  first.cut(false)
  const leave = await hear()
  await wire.send('c')
  expect(heard).toEqual(['again', 'again', 'a', 'b', 'again', 'c'])
  await leave()
  expect(first.ears.size + second.ears.size).toBe(0)
})

describe.skipIf(!postgresUrl)('two processes of one database', () => {
  const open = async () => {
    const database = await createPostgresDatabase(postgresUrl!)
    const stores = [openPostgres({ url: database.url }), openPostgres({ url: database.url })]
    const [one, other] = stores.map((store, at) => process_(`node-${at}`, store.wire)) as [
      ReturnType<typeof process_>,
      ReturnType<typeof process_>,
    ]
    const loops = [one.start(), other.start()]
    afterAll(async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
      await Promise.all(stores.map((store) => store.close()))
      await database.drop()
    })
    await eventually(() => stores.every(({ wire }) => wire!.hearing()))
    return { one, other, stores, database }
  }

  test('hear each other once each, in order, also much at once', async () => {
    const { one, other } = await open()
    const heard: number[] = []
    other.subscribe('room', 'a', (word) => word && heard.push(word.at as number))
    const own: number[] = []
    one.subscribe('room', 'a', (word) => word && own.push(word.at as number))
    const all = Array.from({ length: 2_000 }, (_, at) => at)
    for (const at of all) one.publish('room', 'a', { at, words: 'x'.repeat(60) })
    expect(own).toEqual(all)
    await eventually(() => heard.length >= all.length)
    expect(heard).toEqual(all)
    await Bun.sleep(50)
    expect(own).toHaveLength(all.length)
  })

  test('are told to reload after their connection broke', async () => {
    const { one, other, database } = await open()
    let missed = 0
    const heard: LiveMessage[] = []
    other.subscribe('room', 'a', (word) => {
      if (word) heard.push(word)
      else missed += 1
    })
    const admin = new SQL(database.url, { max: 1 })
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'LISTEN%'`
    await admin.close()
    await eventually(() => missed > 0)
    one.publish('room', 'a', { what: 'after' })
    await eventually(() => heard.length > 0)
  })
})
