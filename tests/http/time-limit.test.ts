// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })
const ada = await world.person()
const { conversations, completions } = world.app.container

/** A verb that waits for something outside until the test lets it go. */
function waiting() {
  const gate = Promise.withResolvers<never>()
  let isRequested = false
  return {
    verb: () => {
      isRequested = true
      return gate.promise
    },
    asked: () => eventually(() => isRequested),
    fail: () => gate.reject(new Error('too late for anyone')),
  }
}

describe('a request that waits for no engine', () => {
  test('is answered within 30 s, whatever it waits for: 504 request_timeout (docs/api.md 1.9)', async () => {
    const slow = waiting()
    conversations.list = slow.verb
    const request = ada.send('GET', 'conversations')
    await slow.asked()
    clock.advance(29_999)
    expect((await ada.send('GET', 'models')).status).toBe(200)
    clock.advance(1)
    const { status, headers, body } = await request
    expect({ status, ...body.error }).toMatchObject({ status: 504, code: 'request_timeout', type: 'api_error' })
    expect(body.error.request_id).toBe(headers.get('x-request-id'))
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
    const notices = world.logged.filter((line) => line.includes(body.error.request_id))
    expect(notices.map((line) => JSON.parse(line))).toMatchObject([{ status: 504, code: 'request_timeout' }])
    slow.fail()
  })

  test('that is answered in time leaves no timer behind', async () => {
    expect((await ada.send('GET', 'models')).status).toBe(200)
    expect(clock.wakesWithin(30_000)).toBe(false)
  })

  test('is unlike a completion, which may take longer', async () => {
    const slow = waiting()
    completions.complete = slow.verb
    let over = false
    const request = ada.send('POST', 'completions', { prompt: 'hi' }).finally(() => {
      over = true
    })
    await slow.asked()
    clock.advance(60_000)
    await ada.send('GET', 'models')
    expect(over).toBe(false)
    slow.fail()
    expect((await request).status).toBe(500)
  })
})
