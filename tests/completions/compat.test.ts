import { describe, expect, test } from 'bun:test'
import { expectedChat } from '../support/expected-chat'
import { joinDeltas, readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world } = await createUpstreamWorld()
const ada = await world.person()

describe('format compat (docs/api.md 2.4)', () => {
  test('answers a chat completion', async () => {
    const { body, headers } = await ada.send('POST', 'completions', {
      prompt: freshPrompt(),
      format: 'compat',
      metadata: { a: 1 },
    })
    expect(body).toEqual(expectedChat(headers.get('x-request-id'), expect.stringMatching(/^[0-9a-f-]{36}$/)))
    expect(Number.isInteger(body.created)).toBe(true)
  })

  test('streams chat chunks', async () => {
    const { text, headers } = await ada.send('POST', 'completions', {
      prompt: freshPrompt('[[say:one two]]'),
      format: 'compat',
      stream: true,
    })
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const frames = readFrames(text)
    expect(frames.every(({ event }) => event === null)).toBe(true)
    expect(joinDeltas(frames)).toBe('one two')
    expect(frames.at(-2)?.data.svc_metadata.conversation_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(frames.at(-1)?.data).toBe('[DONE]')
  })

  test('a cached answer is marked as such and has its original id', async () => {
    const input = { prompt: freshPrompt(), format: 'compat', mode: 'fast' }
    const [first, second] = [await ada.send('POST', 'completions', input), await ada.send('POST', 'completions', input)]
    expect([first, second].map(({ headers }) => headers.get('x-cache'))).toEqual(['MISS', 'HIT'])
    expect(first.body._cached).toBeUndefined()
    expect(second.body).toMatchObject({ id: first.body.id, _cached: true, usage: { cached: true } })
    expect(second.body.svc_metadata.cost_cents).toBe(0)
  })

  test('keeps the follow-ups', async () => {
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(), format: 'compat', mode: 'code' })
    expect(body.svc_metadata.follow_ups.length).toBeGreaterThan(0)
  })

  test('answers errors like every other', async () => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: '', format: 'compat' })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })
})
