import { expect, test } from 'bun:test'
import { createTakeovers } from '../../../src/jobs'
import { fakeClock } from '../../support/clock'
import { openTestStore } from '../../support/store'
import { operatorCall } from '../../support/world'

const SILENCE_MS = 60_000

async function createTranscript() {
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
  const transcript = await createTranscript()
  expect(await transcript.read()).toMatchObject({ status: 'ai', fence: 0, holder: null, until: null })
  expect(await transcript.request('help')).toMatchObject({ status: 'requested', fence: 0, reason: 'help' })
  expect(await transcript.request('again')).toMatchObject({ reason: 'help' })
  const until = transcript.clock.now() + SILENCE_MS
  expect(await transcript.take(transcript.ann)).toMatchObject({
    status: 'human',
    fence: 1,
    holder: transcript.ann,
    until,
  })
  expect(await transcript.release()).toMatchObject({ status: 'ai', fence: 2, holder: null, reason: null })
  expect(await transcript.release()).toMatchObject({ status: 'ai', fence: 2 })
  expect(transcript.seen).toEqual([
    'requested: ai → requested (0)',
    'taken: requested → human (1)',
    'released: human → ai (2)',
  ])
})

test('has one holder, who loses it only by force', async () => {
  const transcript = await createTranscript()
  await transcript.take(transcript.ann)
  await expect(transcript.take(transcript.bob)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('Ann'),
  })
  await expect(transcript.touch(transcript.bob)).rejects.toMatchObject({ code: 'conflict' })
  expect(await transcript.take(transcript.ann)).toMatchObject({ fence: 1 })
  expect(await transcript.take(transcript.bob, true)).toMatchObject({ holder: transcript.bob, fence: 2 })
  await expect(transcript.touch(transcript.ann)).rejects.toMatchObject({ code: 'conflict' })
  await transcript.release()
  await expect(transcript.touch(transcript.bob)).rejects.toMatchObject({ message: expect.stringContaining('Nobody') })
})

test('of many who take it at once one has it', async () => {
  const transcript = await createTranscript()
  const people = Array.from({ length: 20 }, (_, at) => ({ id: `p${at}`, name: `P${at}` }))
  const tries = await Promise.allSettled(people.map((person) => transcript.take(person)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await transcript.read()).toMatchObject({ status: 'human', fence: 1 })
})

test('goes back to the AI after silence, counted from the last thing that its holder did', async () => {
  const transcript = await createTranscript()
  await transcript.take(transcript.ann)
  expect(transcript.looks).toEqual([transcript.clock.now() + SILENCE_MS])
  transcript.clock.advance(SILENCE_MS - 1)
  await transcript.touch(transcript.ann)
  transcript.clock.advance(SILENCE_MS - 1)
  expect(await transcript.endSilent()).toBe(0)
  transcript.clock.advance(1)
  expect(await transcript.endSilent()).toBe(1)
  expect(await transcript.read()).toMatchObject({ status: 'ai', fence: 2 })
  expect(transcript.seen.at(-1)).toBe('silent: human → ai (2)')
  expect(await transcript.endSilent()).toBe(0)
})

test('is forgotten with its subject', async () => {
  const transcript = await createTranscript()
  await transcript.take(transcript.ann)
  await transcript.forget()
  expect(await transcript.read()).toMatchObject({ status: 'ai', fence: 0 })
})
