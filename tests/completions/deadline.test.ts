import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { eventNames, readFrames } from '../support/frames'
import { readPieces } from '../support/pieces'
import type { Reply } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const clock = fakeClock()
const { world, upstream } = await createUpstreamWorld({ clock })
const ada = await world.person()

const idle = () => world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)

/** Waits until the upstream has been asked `count` times. */
const request = (count: number) => eventually(() => upstream.calls.length >= count)

/** Whatever was to happen by now has happened when a whole other request has been answered. */
const meanwhile = () => ada.send('GET', 'conversations')

describe('time', () => {
  test.each([
    ['completions', { mode: 'fast' }, 'Try again, ask for less'],
    ['completions', { mode: 'research' }, 'Send it to POST /research'],
  ])('%s %j runs out after 120 s: 504, nothing charged, the upstream call ended', async (path, members, words) => {
    upstream.reset()
    const before = await idle()
    let reply: Reply | undefined
    const waiting = ada.send('POST', path, { prompt: freshPrompt('[[hang]]'), ...members }).then((given) => {
      reply = given
    })
    await request(1)
    clock.advance(119_999)
    await meanwhile()
    expect(reply).toBeUndefined()
    clock.advance(1)
    await waiting
    expect({ status: reply!.status, ...reply!.body.error }).toMatchObject({
      status: 504,
      code: 'request_timeout',
      type: 'api_error',
      message: expect.stringContaining(words),
    })
    expect(await idle()).toEqual(before)
    await eventually(upstream.aborted)
    const [row] = (await ada.send('GET', 'audit?action=completion.failed')).body
    expect(row.outputSummary).toMatchObject({ status: 504, error_code: 'request_timeout', cost_cents: 0 })
  })

  test('chat runs out after 120 s', async () => {
    upstream.reset()
    const messages = [{ role: 'user', content: freshPrompt('[[hang]]') }]
    const waiting = ada.send('POST', 'chat/completions', { messages })
    await request(1)
    clock.advance(120_000)
    expect((await waiting).status).toBe(504)
  })

  test('a stream runs out after 600 s with an error, paid as far as it came', async () => {
    upstream.reset()
    const before = await idle()
    const stream = await openStream('completions', { prompt: freshPrompt(STALLED) })
    await stream.heard('"some"')
    const ended = stream.toItsEnd()
    clock.advance(5_000)
    clock.advance(594_999)
    await meanwhile()
    expect(upstream.aborted()).toBe(0)
    clock.advance(1)
    const frames = readFrames(await ended)
    expect(eventNames(frames)).toEqual(['meta', 'token', 'thinking', 'error'])
    expect(frames.at(-1)?.data.error).toMatchObject({ code: 'request_timeout', type: 'api_error' })
    const after = await idle()
    expect(after.held).toBe(0)
    expect(after.balance).toBeLessThan(before.balance)
    const [row] = (await ada.send('GET', 'audit?action=completion.failed')).body
    expect(row.outputSummary).toMatchObject({ status: 504, error_code: 'request_timeout' })
  })

  test('silence of 10 s is filled with thinking, which a reader may ignore (docs/api.md 3)', async () => {
    const stream = await openStream('completions', { prompt: freshPrompt(STALLED) })
    await stream.heard('"some"')
    for (const elapsed of [10_000, 20_000, 30_000]) {
      passTenSeconds()
      await stream.heard(`event: thinking\ndata: {"iteration":1,"elapsed_ms":${elapsed}}\n\n`)
    }
    const ended = stream.toItsEnd()
    clock.advance(600_000)
    const frames = readFrames(await ended)
    expect(frames[0]?.event).toBe('meta')
    expect(frames.at(-1)?.event).toBe('error')
  })

  test('silence between tools and their answer tells which iteration it is', async () => {
    upstream.reset()
    const tools = [{ name: 'note', description: 'Notes something.' }]
    const opening = openStream('completions', { prompt: freshPrompt('[[held]] [[plan:note{}]]'), mode: 'fast', tools })
    await request(1)
    upstream.release()
    const stream = await opening
    await stream.heard('event: thinking\ndata: {"iteration":2,"elapsed_ms":0}\n\n')
    await request(2)
    passTenSeconds()
    await stream.heard('event: thinking\ndata: {"iteration":2,"elapsed_ms":10000}\n\n')
    upstream.release()
    expect(readFrames(await stream.toItsEnd()).at(-1)?.event).toBe('done')
  })

  test('silence of a message is an event, since a comment holds no client of that format (docs/api.md 33.6.20)', async () => {
    const messages = [{ role: 'user', content: freshPrompt(STALLED) }]
    const stream = await openStream('messages', { max_tokens: 50, messages })
    await stream.heard('"some"}}\n\n')
    passTenSeconds()
    await stream.heard('"some"}}\n\nevent: ping\ndata: {"type":"ping"}\n\n')
    const ended = stream.toItsEnd()
    clock.advance(600_000)
    expect(eventNames(readFrames(await ended)).at(-1)).toBe('error')
  })

  test('silence of a chat stream is a comment', async () => {
    const stream = await openStream('chat/completions', { messages: [{ role: 'user', content: freshPrompt(STALLED) }] })
    await stream.heard('"some"')
    passTenSeconds()
    await stream.heard('\n\n: keep-alive\n\n')
    const ended = stream.toItsEnd()
    clock.advance(600_000)
    expect(readFrames(await ended).at(-1)?.data).toBe('[DONE]')
  })
})

function passTenSeconds(): void {
  for (let second = 0; second < 10; second++) clock.advance(1_000)
}

/** One word, then nothing for ever. */
const STALLED = '[[stall]][[say:some words]]'

async function openStream(path: string, input: object) {
  const response = await world.app.api.handle(
    new Request(`http://localhost/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...input, stream: true }),
    }),
  )
  return readPieces(response)
}
