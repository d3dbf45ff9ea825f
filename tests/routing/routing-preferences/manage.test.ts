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
})

test('a rule below the floor of its mode is saved with a warning, and without one where the floor is lowered', async () => {
  const who = await world.person()
  const rules = [{ pattern: 'kappa', target_mode: 'code', confidence: 0.7 }]
  const made = await who.send('POST', 'routing-preferences', { name: 'Low', rules })
  const warning = expect.stringContaining('"rules[0]" has confidence 0.7, below the floor of 0.85 for mode "code"')
  expect({ status: made.status, warnings: made.body.warnings }).toEqual({ status: 201, warnings: [warning] })
  const lowered = { confidence_floor_overrides: { code: 0.6 } }
  expect((await who.send('PATCH', `routing-preferences/${made.body.id}`, lowered)).body.warnings).toBeUndefined()
})
