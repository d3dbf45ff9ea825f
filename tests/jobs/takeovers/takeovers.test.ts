import { expect, test } from 'bun:test'
import { createTakeovers } from '../../../src/jobs'
import { fakeClock } from '../../support/clock'
import { openTestStore } from '../../support/store'
import { operatorCall } from '../../support/world'

const SILENCE_MS = 60_000

async function createDesk() {
  const store = await openTestStore()
  const clock = fakeClock()
  const seen: string[] = []
  const looks: number[] = []
  const ensure = async (_: unknown, kind: { name: string }, { runAt = 0 }: { runAt?: number }) => {
    if (kind.name === 'takeovers.silence') looks.push(runAt)
  }
  const takeovers = createTakeovers({ store, clock, jobs: { register: () => undefined, ensure } })
  const chats = takeovers.of({
    name: 'test.chat',
    title: 'conversation',
    silenceMs: SILENCE_MS,
    changed: async (_, { cause, before, now }) =>
      seen.push(`${cause}: ${before.status} → ${now.status} (${now.fence})`),
  })
  const subject = { id: crypto.randomUUID(), owner: 'user:u' as const }
  const call = operatorCall()
  const [ann, bob] = [
    { id: 'ann', name: 'Ann' },
    { id: 'bob', name: 'Bob' },
  ]
  return {
    clock,
    seen,
    looks,
    ann,
    bob,
    endSilent: takeovers.endSilent,
    read: () => chats.read(store.read, subject.id),
    request: (reason?: string) => store.write((tx) => chats.request(tx, subject, { call, reason: reason ?? null })),
    take: (holder: typeof ann, force = false) => store.write((tx) => chats.take(tx, subject, { call, holder, force })),
    touch: (holder: typeof ann) => store.write((tx) => chats.touch(tx, subject, holder.id)),
    release: () => store.write((tx) => chats.release(tx, subject, { call })),
    forget: () => store.write((tx) => chats.forget(tx, [subject.id])),
  }
}

test('goes from the AI over a request to one person, and back', async () => {
  const desk = await createDesk()
  expect(await desk.read()).toMatchObject({ status: 'ai', fence: 0, holder: null, until: null })
  expect(await desk.request('help')).toMatchObject({ status: 'requested', fence: 0, reason: 'help' })
  expect(await desk.request('again')).toMatchObject({ reason: 'help' })
  const until = desk.clock.now() + SILENCE_MS
  expect(await desk.take(desk.ann)).toMatchObject({ status: 'human', fence: 1, holder: desk.ann, until })
  expect(await desk.release()).toMatchObject({ status: 'ai', fence: 2, holder: null, reason: null })
  expect(await desk.release()).toMatchObject({ status: 'ai', fence: 2 })
  expect(desk.seen).toEqual([
    'requested: ai → requested (0)',
    'taken: requested → human (1)',
    'released: human → ai (2)',
  ])
})

test('has one holder, who loses it only by force', async () => {
  const desk = await createDesk()
  await desk.take(desk.ann)
  await expect(desk.take(desk.bob)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('Ann') })
  await expect(desk.touch(desk.bob)).rejects.toMatchObject({ code: 'conflict' })
  expect(await desk.take(desk.ann)).toMatchObject({ fence: 1 })
  expect(await desk.take(desk.bob, true)).toMatchObject({ holder: desk.bob, fence: 2 })
  await expect(desk.touch(desk.ann)).rejects.toMatchObject({ code: 'conflict' })
  await desk.release()
  await expect(desk.touch(desk.bob)).rejects.toMatchObject({ message: expect.stringContaining('Nobody') })
})

test('of many who take it at once one has it', async () => {
  const desk = await createDesk()
  const people = Array.from({ length: 20 }, (_, at) => ({ id: `p${at}`, name: `P${at}` }))
  const tries = await Promise.allSettled(people.map((person) => desk.take(person)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await desk.read()).toMatchObject({ status: 'human', fence: 1 })
})

test('goes back to the AI after silence, counted from the last thing that its holder did', async () => {
  const desk = await createDesk()
  await desk.take(desk.ann)
  expect(desk.looks).toEqual([desk.clock.now() + SILENCE_MS])
  desk.clock.advance(SILENCE_MS - 1)
  await desk.touch(desk.ann)
  desk.clock.advance(SILENCE_MS - 1)
  expect(await desk.endSilent()).toBe(0)
  desk.clock.advance(1)
  expect(await desk.endSilent()).toBe(1)
  expect(await desk.read()).toMatchObject({ status: 'ai', fence: 2 })
  expect(desk.seen.at(-1)).toBe('silent: human → ai (2)')
  expect(await desk.endSilent()).toBe(0)
})

test('is forgotten with its subject', async () => {
  const desk = await createDesk()
  await desk.take(desk.ann)
  await desk.forget()
  expect(await desk.read()).toMatchObject({ status: 'ai', fence: 0 })
})
