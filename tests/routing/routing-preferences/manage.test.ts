import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ada = await world.person()
const rule = { pattern: '\\bdraft\\b.*\\bcontract\\b', target_mode: 'domain_analysis' }
const make = (body: object = {}, who = ada) => who.send('POST', 'routing-preferences', { name: 'Mine', ...body })

describe('a routing preference', () => {
  test('is answered whole when it is made, with what was left out filled in', async () => {
    const { status, body } = await make({
      description: 'Contracts are analysed',
      rules: [{ ...rule, confidence: 5 }, rule],
      examples: [{ prompt: 'Look over this lease', expected_mode: 'domain_analysis' }],
      confidence_floor_overrides: { code: 0.1, think: 2 },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      object: 'routing_preference',
      name: 'Mine',
      description: 'Contracts are analysed',
      rules: [
        { ...rule, target_engine: null, confidence: 0.99, description: null },
        { ...rule, target_engine: null, confidence: 0.9, description: null },
      ],
      examples: [{ prompt: 'Look over this lease', expected_mode: 'domain_analysis', expected_engine: null }],
      confidence_floor_overrides: { code: 0.5, think: 0.99 },
      scope: 'personal',
      org_id: null,
      is_default: false,
      bound_key_count: 0,
    })
    const read = await ada.send('GET', `routing-preferences/${body.id}`)
    expect(read.body).toEqual({ ...body, request_id: read.body.request_id })
  })

  test('is changed by what a body names, and by nothing else', async () => {
    const made = (await make({ description: 'as it was', rules: [rule] })).body
    const { status, body } = await ada.send('PATCH', `routing-preferences/${made.id}`, { name: 'Renamed', rules: [] })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Renamed', rules: [], description: 'as it was', created: made.created })
    expect(Date.parse(body.updated)).toBeGreaterThan(Date.parse(made.updated))
  })

  test('is gone once it is deleted, and off the keys it was on', async () => {
    const { id } = (await make()).body
    await ada.send('PUT', `keys/${ada.keyId}/routing-preference`, { routing_preference_id: id })
    expect((await ada.send('GET', `routing-preferences/${id}`)).body.bound_key_count).toBe(1)
    expect((await ada.send('DELETE', `routing-preferences/${id}`)).body).toMatchObject({ deleted: true })
    expect((await ada.send('GET', `routing-preferences/${id}`)).status).toBe(404)
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body.routing_preference_id).toBeNull()
  })

  test('is listed newest first, page by page, and by scope', async () => {
    const bob = await world.person({ ofOrg: true })
    const all: { id: string; created: string }[] = []
    for (const name of ['one', 'two', 'three']) all.push((await make({ name }, bob)).body)
    // Those of one millisecond are listed by id.
    const made = all.sort((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1)).map(({ id }) => id)
    const first = (await bob.send('GET', 'routing-preferences?limit=2')).body
    expect(first.routing_preferences.map(({ id }: { id: string }) => id)).toEqual([made[2], made[1]])
    expect(first.has_more).toBe(true)
    const rest = (await bob.send('GET', `routing-preferences?limit=2&cursor=${first.next_cursor}`)).body
    expect(rest.routing_preferences.map(({ id }: { id: string }) => id)).toEqual([made[0]])
    expect((await bob.send('GET', 'routing-preferences?scope=personal')).body.routing_preferences).toEqual([])
  })
})

describe('the default of a scope', () => {
  test('is one, however many ask at once (K13)', async () => {
    const eve = await world.person()
    const requests = await Promise.all(Array.from({ length: 20 }, () => make({ is_default: true }, eve)))
    expect(requests.filter(({ status }) => status === 201)).toHaveLength(1)
    const refused = requests.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(19)
    expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(new Set(['conflict']))
  })

  test('is one when two are made it at once (E10)', async () => {
    const eve = await world.person()
    const ids = [(await make({}, eve)).body.id, (await make({}, eve)).body.id]
    const requests = await Promise.all(
      ids.map((id) => eve.send('PATCH', `routing-preferences/${id}`, { is_default: true })),
    )
    expect(requests.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('can be another once the first gives it up', async () => {
    const eve = await world.person()
    const { id } = (await make({ is_default: true, name: 'Cheap first' }, eve)).body
    const second = await make({ is_default: true }, eve)
    expect({ status: second.status, code: second.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(second.body.error.message).toStartWith('"Cheap first" is already the default routing preference')
    await eve.send('PATCH', `routing-preferences/${id}`, { is_default: false })
    expect((await make({ is_default: true }, eve)).status).toBe(201)
  })
})

test('a rule below the floor of its mode is saved with a warning, and without one where the floor is lowered', async () => {
  const who = await world.person()
  const rules = [{ pattern: 'kappa', target_mode: 'code', confidence: 0.7 }]
  const made = await who.send('POST', 'routing-preferences', { name: 'Low', rules })
  const warning = expect.stringContaining('"rules[0]" has confidence 0.7, below the floor of 0.85 for mode "code"')
  expect({ status: made.status, warnings: made.body.warnings }).toEqual({ status: 201, warnings: [warning] })
  const lowered = { confidence_floor_overrides: { code: 0.6 } }
  const { body } = await who.send('PATCH', `routing-preferences/${made.body.id}`, lowered)
  expect(body.warnings).toBeUndefined()
})
