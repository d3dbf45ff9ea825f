// Both databases: claims of one key race in it.
import { expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'

const DAY_MS = 24 * 60 * 60_000
const clock = fakeClock()
const world = await createWorld({ clock })

let keys = 0
const newKey = () => ({ 'idempotency-key': `order-${++keys}` })

test('a retry gets the first answer byte for byte, its status, and a request id of its own', async () => {
  const ada = await world.person()
  const key = newKey()
  const first = await ada.send('POST', 'keys', { name: 'once' }, key)
  const again = await ada.send('POST', 'keys', { name: 'once' }, key)
  expect(first.status).toBe(201)
  expect(first.headers.has('x-idempotent-replay')).toBe(false)
  expect(again.status).toBe(201)
  expect(again.text).toBe(first.text)
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect(first.body.request_id).toBe(first.headers.get('x-request-id'))
  expect(again.headers.get('x-request-id')).not.toBe(first.body.request_id)
  expect((await ada.send('GET', 'keys')).body.keys).toHaveLength(2)
})

test('without the header the same request runs again', async () => {
  const ada = await world.person()
  const [one, two] = [await ada.send('POST', 'keys', {}), await ada.send('POST', 'keys', {})]
  expect(one.body.id).not.toBe(two.body.id)
})

test('a completion is charged once, recorded once, and kept in either format', async () => {
  const ada = await world.person()
  for (const [path, input] of [
    ['completions', { prompt: 'What is 2 + 2?' }],
    ['completions', { prompt: 'What is 2 + 3?', format: 'compat' }],
    ['chat/completions', { messages: [{ role: 'user', content: 'What is 2 + 4?' }] }],
  ] as const) {
    const key = newKey()
    const first = await ada.send('POST', path, input, key)
    expect(first.status).toBe(200)
    const again = await ada.send('POST', path, input, key)
    expect(again.text).toBe(first.text)
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
  }
  const { body } = await ada.send('GET', 'audit?limit=100')
  expect(body.filter(({ action }: { action: string }) => action === 'completion.created')).toHaveLength(3)
})

test('an answer is replayed for 24 hours, and then the key is new', async () => {
  const ada = await world.person()
  const key = newKey()
  const first = await ada.send('POST', 'keys', {}, key)
  clock.advance(DAY_MS - 1_000)
  expect((await ada.send('POST', 'keys', {}, key)).text).toBe(first.text)
  clock.advance(2_000)
  const anew = await ada.send('POST', 'keys', {}, key)
  expect(anew.status).toBe(201)
  expect(anew.headers.has('x-idempotent-replay')).toBe(false)
  expect(anew.body.id).not.toBe(first.body.id)
})

test('a weaker key and a key of the team are not handed what a stronger key was given', async () => {
  const ada = await world.person()
  const key = newKey()
  const { body: org } = await ada.send('POST', 'orgs', { name: 'Acme' })
  const weak = (await ada.send('POST', 'keys', { scopes: ['billing'] })).body.key
  const team = (await ada.send('POST', 'keys', { org_id: org.id })).body.key
  expect((await ada.send('POST', 'keys', {}, key)).status).toBe(201)
  for (const secret of [weak, team]) {
    const refused = await world.send('POST', 'keys', {}, { ...key, authorization: `Bearer ${secret}` })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
  }
})
