import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const world = await createWorld({
  config: { production: true, publicUrl: 'https://svc.example', engineBuiltin: false },
})
const send = operatorSender(world)

test('the first key on an empty server brings an owner and an org with it', async () => {
  expect((await send('GET', 'credits')).body.error.message).toContain('svc-admin keys create')
  const { body: key } = await send('POST', 'keys', { name: 'first' })
  expect(key).toMatchObject({
    object: 'api_key',
    scope: 'org',
    tier: 'free',
    key: expect.stringMatching(/^svc_sk_live_/),
  })
  const { body: balance } = await send('GET', 'credits')
  expect(balance).toMatchObject({ id: `org:${key.org_id}`, owner: 'Main', balance_cents: 0 })
})

test('the second one joins them', async () => {
  const { body: first } = await send('GET', 'keys/first')
  expect((await send('POST', 'keys', { name: 'second' })).body.org_id).toBe(first.org_id)
  const { body: own } = await send('POST', 'keys', { name: 'own', personal: true })
  expect(own).toMatchObject({ scope: 'personal', org_id: null })
})

test('a key is not put on the record with its secret', async () => {
  const { body: key } = await send('POST', 'keys', { name: 'third' })
  const { items } = await world.app.container.audit.list(world.app.store.read, `org:${key.org_id}`, { limit: 1 })
  expect(items[0]).toMatchObject({ action: 'key.created', entityId: key.id })
  expect(JSON.stringify(items)).not.toContain(key.key)
})
