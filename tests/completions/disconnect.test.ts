import { describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import { readPieces } from '../support/pieces'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const { baseUrl } = listen(world)

/** One word, then nothing: such a stream is never over before its reader leaves. */
const ENDLESS = '[[stall]][[say:word]]'

/** A request that its client can leave. */
function open(person: Person, path: string, input: object) {
  const leaving = new AbortController()
  const response = fetch(`${baseUrl}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal: leaving.signal,
  })
  return { response, leave: () => leaving.abort() }
}

/** Opens a stream and leaves it as soon as this was said. */
async function leaveEarly(person: Person, path: string, input: object, words = 'word'): Promise<string> {
  const { response, leave } = open(person, path, input)
  const text = await readPieces(await response).heard(words)
  leave()
  return text
}

const failuresOf = async (person: Person) =>
  (await person.send('GET', 'audit?action=completion.failed')).body as {
    outputSummary: { cost_cents: number; status: number }
  }[]
const walletOf = (person: Person) => world.app.container.billing.balance(world.app.store.read, `user:${person.userId}`)

describe('a reader who leaves', () => {
  test.each([
    ['completions', { mode: 'fast' }],
    ['chat/completions', {}],
  ])('a stream of %s stops the engine, pays for what was heard, and is on the record (I31)', async (path, members) => {
    const bob = await world.person()
    upstream.reset()
    const prompt = freshPrompt(ENDLESS)
    const input = { prompt, messages: [{ role: 'user', content: prompt }], stream: true, ...members }
    const heard = await leaveEarly(bob, path, input)
    await eventually(upstream.aborted)
    const [failure] = await eventually(
      () => failuresOf(bob),
      (rows) => rows.length > 0,
    )
    expect(failure!.outputSummary.status).toBe(499)
    expect(failure!.outputSummary.cost_cents).toBeGreaterThan(0)
    const { balance, held } = await walletOf(bob)
    expect(held).toBe(0)
    expect(Math.round(failure!.outputSummary.cost_cents * 1e6)).toBe(10_000 * 1e6 - balance)
    expect(heard).not.toContain('event: done')
  })

  test('keeps the part of the conversation that was said', async () => {
    const bob = await world.person()
    const prompt = freshPrompt(ENDLESS)
    await leaveEarly(bob, 'completions', { prompt, mode: 'fast', stream: true })
    const { id } = await eventually(async () => (await bob.send('GET', 'conversations')).body.conversations[0])
    const { conversation } = (await bob.send('GET', `conversations/${id}`)).body
    expect(conversation.messages[1].status).toBe('interrupted')
    expect(conversation.messages[1].content).toStartWith('word')
  })

  test('a plain request stops the engine and costs nothing', async () => {
    const bob = await world.person()
    upstream.reset()
    const { response, leave } = open(bob, 'completions', { prompt: freshPrompt('[[hang]]'), mode: 'fast' })
    const name = response.catch((error: Error) => error.name)
    await eventually(() => upstream.calls.length)
    leave()
    expect(await name).toBe('AbortError')
    await eventually(upstream.aborted)
    const [failure] = await eventually(
      () => failuresOf(bob),
      (rows) => rows.length > 0,
    )
    expect(failure!.outputSummary).toMatchObject({ status: 499, cost_cents: 0 })
    expect(await walletOf(bob)).toEqual({ balance: 10_000 * 1e6, held: 0, available: 10_000 * 1e6 })
    expect(world.logged.filter((line) => line.includes('"fault"'))).toEqual([])
  })

  test('of a run that others joined does not take it from them', async () => {
    const bob = await world.person()
    upstream.reset()
    const input = { prompt: freshPrompt('[[held]]'), mode: 'fast' }
    const { response, leave } = open(bob, 'completions', input)
    const first = response.catch(() => null)
    await eventually(() => upstream.calls.length)
    const second = bob.send('POST', 'completions', input)
    // By the time one that came after it has gone the whole way, this one has joined.
    await bob.send('POST', 'completions', { ...input, prompt: freshPrompt() })
    leave()
    await first
    // It may have to ask for itself.
    const releasing = setInterval(upstream.release, 5)
    expect((await second).status).toBe(200)
    clearInterval(releasing)
  })

  test('a hundred of them leave nothing held and nothing open', async () => {
    const bob = await world.person()
    upstream.reset()
    const order = () => ({ prompt: freshPrompt(ENDLESS), mode: 'fast', stream: true })
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => leaveEarly(bob, 'completions', order(), at % 3 ? 'event: meta' : 'word')),
    )
    await eventually(upstream.aborted, (count) => count === 100)
    await eventually(
      () => walletOf(bob),
      ({ held }) => held === 0,
    )
    expect(await world.app.container.billing.verify(world.app.store.read)).toEqual([])
  })
})
