import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const world = await createWorld()
const ops = operatorSender(world)
const email = { guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: { entities: ['email'] } }
const zebra = { pattern: 'zebra', target_mode: 'roast' }

const kinds = [
  { path: 'guardrail-policies', list: 'guardrail_policies', rules: [email] },
  { path: 'routing-preferences', list: 'routing_preferences', rules: [zebra] },
]

describe.each(kinds)('operators and $path', ({ path, list, rules }) => {
  test('make one for an owner, which the owner sees and is told of in the record', async () => {
    const ada = await world.person()
    const made = await ops('POST', `${path}?owner=${ada.userId}`, { name: 'For Ada', rules })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({ scope: 'personal', org_id: null, name: 'For Ada' })
    expect((await ada.send('GET', `${path}/${made.body.id}`)).body.name).toBe('For Ada')
    const { body: events } = await ada.send('GET', `audit?entity_id=${made.body.id}`)
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events[0])).toContain('"operator":{')
  })

  test('make a team’s for an organization', async () => {
    const { body: org } = await ops('POST', 'orgs', { name: `Acme ${path}` })
    const made = await ops('POST', `${path}?owner=${org.id}`, { name: 'Ours', rules })
    expect(made.body).toMatchObject({ scope: 'team', org_id: org.id })
    expect((await ops('GET', `${path}?owner=${org.id}`)).body[list]).toHaveLength(1)
    expect((await ops('GET', `${path}?scope=personal&owner=${org.id}`)).body[list]).toHaveLength(0)
  })

  test('see, change and delete anyone’s', async () => {
    const ada = await world.person()
    const { id } = (await ada.send('POST', path, { name: 'Mine', rules })).body
    expect((await ops('GET', path)).body[list].map((one: { id: string }) => one.id)).toContain(id)
    expect((await ops('PATCH', `${path}/${id}`, { is_default: true })).body.is_default).toBe(true)
    expect((await ops('DELETE', `${path}/${id}`)).body.deleted).toBe(true)
    expect((await ada.send('GET', `${path}/${id}`)).status).toBe(404)
  })

  test.each([
    ['an unknown owner', 'POST', `${path}?owner=nobody`, { name: 'x' }, 404],
    ['an unknown id', 'GET', `${path}/nobody`, undefined, 404],
    ['a rule that is none', 'POST', `${path}?owner=someone`, { name: 'x', rules: [{}] }, 400],
  ])('are refused %s', async (_, method, where, body, status) => {
    expect((await ops(method, where, body)).status).toBe(status)
  })

  test('are refused a team’s for a person', async () => {
    const ada = await world.person()
    const { status, body } = await ops('POST', `${path}?owner=${ada.userId}`, { name: 'x', scope: 'team' })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })
})

test('operators try a policy on a text', async () => {
  const ada = await world.person()
  const { id } = (await ada.send('POST', 'guardrail-policies', { name: 'Mine', rules: [email] })).body
  const { body } = await ops('POST', `guardrail-policies/${id}/evaluate`, { text: 'a@example.com', phase: 'input' })
  expect(body.text).toBe('[REDACTED:email]')
  expect((await ops('GET', 'guardrails')).body.guardrails.length).toBe(15)
})

describe('operators preview routing', () => {
  const input = { prompt: 'a zebra' }
  const sourceOf = async (path: string, body: object = {}) =>
    (await ops('POST', `routing-preferences/preview${path}`, { ...input, ...body })).body.source

  test('for an owner, for a key, under a preference, and for nobody', async () => {
    const ada = await world.person()
    const named = { name: 'Mine', rules: [zebra] }
    const { id } = (await ada.send('POST', 'routing-preferences', named)).body
    expect(await sourceOf('', { routing_preference_id: id })).toBe('rule')
    expect(await sourceOf(`?owner=${ada.userId}`)).not.toBe('rule')
    await ada.send('PUT', `keys/${ada.keyId}/routing-preference`, { routing_preference_id: id })
    expect(await sourceOf('', { key_id: ada.keyId })).toBe('rule')
    await ada.send('PATCH', `routing-preferences/${id}`, { is_default: true })
    expect(await sourceOf(`?owner=${ada.userId}`)).toBe('rule')
    expect(await sourceOf('')).not.toBe('rule')
  })
})

test('operators read corrections and get a rule out of them', async () => {
  const ada = await world.person()
  for (const prompt of ['overdue invoices', 'invoices overdue', 'the overdue ones']) {
    await ada.send('POST', 'routing-corrections', { prompt, expected_mode: 'data_extraction' })
  }
  expect((await ops('GET', `routing-corrections?owner=${ada.userId}`)).body.routing_corrections).toHaveLength(3)
  const suggest = `routing-preferences/suggest-rule?owner=${ada.userId}`
  expect((await ops('POST', suggest, { expected_mode: 'data_extraction' })).body.confidence).toBe(0.88)
  expect((await ops('POST', suggest, { expected_mode: 'code' })).status).toBe(404)
})
