import { expect, test } from 'bun:test'
import { hmacHex } from '../../src/kernel/crypto'
import { sessionRepository } from '../../src/widgets/repository'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'
import { createReceiver, LOCAL } from '../webhooks/support'
import { createWidgetWorld } from './world'

const MINUTE = 60_000
const clock = fakeClock()
const world = await createWidgetWorld({ clock, config: { ...LOCAL, webhookRetrySchedule: '0,5,60' } })
const { begin, say, asVisitor, transcript } = world
let status = 204
const { got, url } = createReceiver(() => new Response(null, { status }))

const calling = (intents: object = {}, owner?: Person) =>
  world.widget({ intents: { action: 'webhook', url, keywords: ['refund'], ...intents } }, owner)

/** What is called now by what is due, when the address answers so. */
async function called(answer = 204) {
  status = answer
  got.length = 0
  await world.app.container.jobs.runDue('widgets.call')
  return [...got]
}
const failures = async (owner: Person): Promise<object[]> => {
  const { body } = await owner.send('GET', 'audit?action=widget.call_failed')
  return body.map(({ inputSummary }: { inputSummary: { metadata: object } }) => inputSummary.metadata)
}

test('words that ask for a person call the owner’s address, signed, and the chat waits for one (M20)', async () => {
  const owner = await world.person({ ofOrg: true })
  const { id } = await calling({}, owner)
  const chat = await begin(id, { page_url: 'https://shop.example/hats' })
  const { body } = await say(chat, 'I want a refund.')
  expect(body).toMatchObject({ takeover_status: 'requested', reply: { role: 'system' } })
  expect(body.reply.content).toContain('Someone will be with you soon')
  const [one, ...more] = await called()
  expect(more).toEqual([])
  const event = JSON.parse(one!.body)
  expect(event).toMatchObject({
    type: 'widget.human_requested',
    data: {
      config_id: id,
      session_id: chat.sessionId,
      takeover_status: 'requested',
      operator_id: null,
      message: { id: body.message.id, role: 'user', content: 'I want a refund.' },
      page_url: 'https://shop.example/hats',
    },
  })
  const { secret } = (await owner.send('GET', 'tools/signing-secret')).body
  const at = one!.headers['svc-webhook-timestamp']
  expect(event.id).toMatch(/^evt_/)
  expect(one!.headers['svc-webhook-id']).toBe(event.id)
  expect(one!.headers['svc-webhook-signature']).toBe(`v1=${hmacHex(secret, `${at}.${one!.body}`)}`)
  await say(chat, 'A refund, please!')
  expect(await called()).toEqual([])
})

test('so does the button, once, in the owner’s own words; and not where intents are off (M20)', async () => {
  const { id, owner } = await calling({ message: 'We ring you up.' })
  const chat = await begin(id)
  for (const _ of [1, 2]) await asVisitor(chat)('POST', '/request-human', { reason: 'Broken hat' })
  expect((await called()).map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { session_id: chat.sessionId, reason: 'Broken hat', message: null },
  ])
  expect((await say(await begin(id), 'refund')).body.reply.content).toBe('We ring you up.')
  await called()
  await owner.send('PATCH', `iframes/${id}`, { intents: { enabled: false } })
  await asVisitor(await begin(id))('POST', '/request-human')
  expect(await called()).toEqual([])
})

test('what fails is tried again with the same bytes while the visitor waits, and then is on the record (M20)', async () => {
  const { id, owner } = await calling()
  await say(await begin(id), 'refund')
  const bodies = (await called(503)).map(({ body }) => body)
  expect(await called()).toEqual([])
  for (const wait of [6_000, 2 * MINUTE]) {
    clock.advance(wait)
    bodies.push(...(await called(500)).map(({ body }) => body))
  }
  expect({ bodies: bodies.length, distinct: new Set(bodies).size }).toEqual({ bodies: 3, distinct: 1 })
  clock.advance(60 * MINUTE)
  expect(await called()).toEqual([])
  expect(await failures(owner)).toMatchObject([{ attempts: 3, http_status: 500, error: 'http_5xx' }])
})

test('what fails is not tried again once a person has come, nor where it is refused (M20)', async () => {
  const { id, owner } = await calling()
  const taken = await begin(id)
  await say(taken, 'refund')
  expect(await called(503)).toHaveLength(1)
  await transcript(owner, taken)('POST', '/takeover')
  clock.advance(MINUTE)
  expect(await called()).toEqual([])
  expect(await failures(owner)).toEqual([])
  await say(await begin(id), 'refund')
  expect(await called(404)).toHaveLength(1)
  expect(await failures(owner)).toMatchObject([{ attempts: 1, http_status: 404 }])
})

test('an address that became private is not called (M20)', async () => {
  const { id, owner } = await calling()
  const [chat, gone] = [await begin(id), await begin(id)]
  await say(chat, 'refund')
  const { store } = world.app.container
  const { intents } = (await sessionRepository.widget(store.read, id as never))!
  const moved = { intents: { ...intents, url: 'https://10.0.0.1/hook' } }
  await store.write((tx) => sessionRepository.changeWidget(tx, id as never, moved))
  expect(await called()).toEqual([])
  expect(await failures(owner)).toMatchObject([{ attempts: 1, error: 'destination not allowed' }])
  await say(gone, 'refund')
  await owner.send('DELETE', `iframes/${id}`)
  expect(await called()).toEqual([])
})
