import { afterEach, describe, expect, test } from 'bun:test'
import { storageUnavailable } from '../../src/kernel/errors'
import { eventNames, readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld({ isAlone: true })
const ada = await world.person()
const { store } = world.app
const { write, writeSoon, writeTogether, confirm, failing } = store
afterEach(() => {
  Object.assign(store, { write, writeSoon, writeTogether, confirm, failing })
})

const away = () => Promise.reject(storageUnavailable.with({ retryAfterS: 30 }))
const ask = (input: object) => ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast', ...input })

describe('while the database keeps nothing', () => {
  const losing = () => Object.assign(store, { write: away, writeTogether: away, confirm: away })

  test.each(['completions', 'chat/completions'])(
    'a stream of %s is refused before its first word, and no engine is asked',
    async (path) => {
      losing()
      const before = upstream.calls.length
      const prompt = freshPrompt()
      const input = { prompt, messages: [{ role: 'user', content: prompt }], stream: true }
      const { status, headers, body } = await ada.send('POST', path, input)
      expect(status).toBe(503)
      expect(body.error.code).toBe('storage_unavailable')
      expect(headers.get('retry-after')).toBe('30')
      expect(headers.get('content-type')).toStartWith('application/json')
      expect(upstream.calls.length).toBe(before)
    },
  )

  test('and that is known, no engine is asked for a plain answer either', async () => {
    losing()
    Object.assign(store, { failing: () => true })
    const before = upstream.calls.length
    expect((await ask({})).status).toBe(503)
    expect(upstream.calls.length).toBe(before)
  })

  test('a stream that began before ends with an error', async () => {
    const prompt = freshPrompt('[[tokens:40]][[slow:5]]')
    const response = await world.app.api.handle(
      new Request('http://localhost/api/v1/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt, mode: 'fast', stream: true }),
      }),
    )
    losing()
    const text = await response.text()
    expect(eventNames(readFrames(text)).at(-1)).toBe('error')
    expect(readFrames(text).at(-1)?.data.error.code).toBe('storage_unavailable')
  })

  test('and keeps again, streams come as before', async () => {
    const { status, text } = await ask({ stream: true })
    expect({ status, last: eventNames(readFrames(text)).at(-1) }).toEqual({ status: 200, last: 'done' })
  })
})
