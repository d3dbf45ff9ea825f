// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { tourLine } from '../first-run/readme'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { fakeIo, type Line } from '../support/io'
import { createWorld } from '../support/world'
import { createReceiver } from '../webhooks/support'

const world = await createWorld()
const run = cliOver(world)
const json = (line: Line, key: string) => run.json(line, { key })

test('webhooks listen prints deliveries and passes them on, signed; its webhook ends with it', async () => {
  const ada = await world.person()
  const receiver = createReceiver(() => new Response(null, { status: 201 }))
  const leaving = new AbortController()
  const io = fakeIo()
  const line = ['webhooks', 'listen', '--events', 'order.*', '--forward-to', receiver.url, '--print-secret']
  const listening = run(line, { key: ada.key, io, signal: leaving.signal, clock: systemClock })
  await eventually(() => io.stderr().includes('Signing secret'))
  const secret = /secret: (\S+)/.exec(io.stderr())![1]!
  expect(await json('events publish order.created', ada.key)).toMatchObject({ matchedWebhooks: 1 })
  const sent = await json('webhooks trigger job.completed --set usage.cost_cents=5', ada.key)
  await eventually(() => receiver.got.length === 2 && io.stdout().trim().split('\n').length === 2)
  const shown = io
    .stdout()
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one))
  expect(shown.map(({ event_type, http_status }) => [event_type, http_status])).toEqual([
    ['order.created', 201],
    ['job.completed', 201],
  ])
  const { headers, body } = receiver.got[1]!
  expect(JSON.parse(body)).toMatchObject({ id: sent.event_id, data: { _test: true, usage: { cost_cents: 5 } } })
  const timestampS = Number(headers['svc-webhook-timestamp'])
  expect(headers).toMatchObject(signatureHeaders({ id: sent.event_id, timestampS, body, secret }))
  leaving.abort()
  expect((await listening).exitCode).toBe(130)
  expect(await json('webhooks list', ada.key)).toEqual([])
})

test('webhooks listen prints on a terminal what the tour shows', async () => {
  const { key } = await world.person()
  const receiver = createReceiver()
  const leaving = new AbortController()
  const io = fakeIo({ width: 120 })
  const line = ['webhooks', 'listen', '--forward-to', receiver.url]
  const listening = run(line, { key, io, signal: leaving.signal, clock: systemClock, env: { NO_COLOR: '1' } })
  await eventually(() => io.stderr().includes('Listening for'))
  await json('webhooks trigger completion.created', key)
  await eventually(() => io.stdout().includes('204'))
  leaving.abort()
  await listening
  expect(io.stdout()).toMatch(tourLine('webhooks listen'))
})

test('webhooks listen passes on to this machine only', async () => {
  const { key } = await world.person()
  for (const to of ['http://192.0.2.1/', 'https://example.com', 'nothing'])
    expect((await run(['webhooks', 'listen', '--forward-to', to], { key })).exitCode).toBe(2)
  expect(await json('webhooks list', key)).toEqual([])
})

test('webhooks events and events types name the events of the server, with example data', async () => {
  const { key } = await world.person()
  expect((await json('webhooks events', key)).length).toBe(25)
  expect((await json('events types', key)).map(({ type }: { type: string }) => type)).toContain('hook.paused')
  const { stdout } = await run('webhooks events --sample key.created', { key })
  expect(JSON.parse(stdout)).toMatchObject({ name: 'shop' })
  expect((await run('webhooks events --sample no.such', { key })).exitCode).toBe(3)
})

test('hooks match lists what an event would reach, and events replay publishes one again', async () => {
  const ada = await world.person()
  await ada.send('POST', 'hooks', { event_pattern: 'order', skill_slug: 'email-drafter' })
  await ada.send('POST', 'hooks', { event_pattern: 'task', skill_slug: 'email-drafter' })
  await ada.send('POST', 'webhooks', { url: 'https://203.0.112.7/hook', event_types: ['order.paid', 'order.*'] })
  const steps = [{ type: 'output', name: 'a', config: { format: 'text', template: 'x' } }]
  const flow = { name: 'Flow', triggerType: 'event', triggerConfig: { eventPattern: '*' }, steps }
  const { workflow } = (await ada.send('POST', 'workflows', flow)).body
  expect(await json(`workflows disable ${workflow.id}`, ada.key)).toMatchObject({ enabled: false })
  const found = await json('hooks match order.created', ada.key)
  expect(found.map(({ kind, pattern, state }: Record<string, string>) => [kind, pattern, state])).toEqual([
    ['hook', 'order', 'ready'],
    ['workflow', '*', 'disabled'],
    ['webhook', 'order.*', 'ready'],
  ])
  expect(await json('workflows enable Flow', ada.key)).toMatchObject({ enabled: true })
  const event = (await ada.send('POST', 'events', { orgId: ada.userId, eventType: 'order.created', payload: { n: 1 } }))
    .body
  const again = await json(`events replay ${event.id} --yes`, ada.key)
  expect(again).toMatchObject({ eventType: 'order.created', payload: { n: 1 }, sourceConnector: 'replayed' })
  expect(again.id).not.toBe(event.id)
  expect((await run('events replay evt_none --yes', { key: ada.key })).exitCode).toBe(3)
})
