import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const world = await createWorld()
const SOON = '2099-01-01T00:00:00.000Z'
const LATER = '2099-06-01T00:00:00.000Z'
const bounds = {
  rpm_limit: 30,
  tpm_limit: 1_000,
  daily_cap_cents: 100,
  monthly_cap_cents: 500,
  expires_at: SOON,
  allowed_origins: ['https://a.example', 'https://b.example'],
}

/** A key with every bound there is, and its maker's other one. */
async function bounded(set: object = bounds) {
  const ada = await world.person()
  const { body } = await ada.send('POST', 'keys', { name: 'bounded', ...set })
  const own = (change: object) => world.byKey(body.key).send('PUT', `keys/${body.id}`, change)
  return { ada, id: body.id, own }
}

describe('a key that changes itself (A22, E5)', () => {
  const wider: [string, object][] = [
    ['rpm_limit', { rpm_limit: 31 }],
    ['rpm_limit', { rpm_limit: null }],
    ['tpm_limit', { tpm_limit: 2_000 }],
    ['daily_cap_cents', { daily_cap_cents: 101 }],
    ['daily_cap_cents', { daily_cap_cents: null }],
    ['monthly_cap_cents', { name: 'sly', monthly_cap_cents: null }],
    ['expires_at', { expires_at: LATER }],
    ['expires_at', { expires_at: null }],
    ['allowed_origins', { allowed_origins: [] }],
    ['allowed_origins', { allowed_origins: ['https://a.example', 'https://evil.example'] }],
  ]
  test.each(wider)('cannot widen its %s: %j', async (field, change) => {
    const { ada, id, own } = await bounded()
    const { status, body } = await own(change)
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect(body.error.message).toContain(`"${field}"`)
    expect((await ada.send('GET', `keys/${id}`)).body).toMatchObject({ name: 'bounded', ...bounds })
  })

  test('may narrow itself, and change what is no bound', async () => {
    const { own } = await bounded()
    const change = {
      name: 'smaller',
      rpm_limit: 10,
      daily_cap_cents: 100,
      monthly_cap_cents: 1,
      allowed_origins: ['https://b.example'],
      brand_soul: { persona: 'calm' },
    }
    expect(await own(change)).toMatchObject({ status: 200, body: { ...change, brand_soul: { persona: 'calm' } } })
  })

  test('may take on bounds it never had', async () => {
    expect(await (await bounded({})).own(bounds)).toMatchObject({ status: 200, body: bounds })
  })

  test('is widened by another key of its maker that has no bounds', async () => {
    const { ada, id } = await bounded()
    for (const [, change] of wider) expect((await ada.send('PUT', `keys/${id}`, change)).status).toBe(200)
  })
})

describe('a key with any bound', () => {
  const bound: [string, object][] = [
    ['rpm_limit', { rpm_limit: 30 }],
    ['tpm_limit', { tpm_limit: 1_000 }],
    ['daily_cap_cents', { daily_cap_cents: 100 }],
    ['monthly_cap_cents', { monthly_cap_cents: 500 }],
    ['expires_at', { expires_at: SOON }],
    ['allowed_origins', { allowed_origins: ['https://a.example'] }],
  ]

  test.each(bound)('of %s makes no keys, not even one like itself', async (field, set) => {
    const { ada, as } = await boundedBy(set)
    for (const wanted of [{}, set]) {
      const { status, body } = await as('POST', 'keys', wanted)
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
      expect(body.error.message).toContain(`"${field}"`)
    }
    expect((await ada.send('GET', 'keys')).body.keys).toHaveLength(2)
  })

  test.each(bound)('of %s gets no secret of a key beside it, and its own anew', async (_field, set) => {
    const { ada, id, as } = await boundedBy(set)
    expect((await as('POST', `keys/${ada.keyId}/rotate`, {})).body.error.code).toBe('forbidden')
    expect(await as('POST', `keys/${id}/rotate`, { grace_period_seconds: 0 })).toMatchObject({ status: 200, body: set })
    expect((await ada.send('GET', 'settings')).status).toBe(200)
  })

  test.each(bound)('of %s does not widen a key beside it, and may narrow and revoke one', async (_field, set) => {
    const { ada, as } = await boundedBy(set)
    const { id: other } = (await ada.send('POST', 'keys', bounds)).body
    const wider = { ...bounds, daily_cap_cents: null }
    expect((await as('PUT', `keys/${other}`, wider)).body.error.code).toBe('forbidden')
    expect((await as('PUT', `keys/${other}`, { daily_cap_cents: 1 })).body).toMatchObject({ daily_cap_cents: 1 })
    expect((await as('DELETE', `keys/${other}`)).status).toBe(200)
  })

  test('that was given only now is bound with its next request', async () => {
    const { ada, id, as } = await boundedBy({})
    expect((await as('POST', 'keys', {})).status).toBe(201)
    await ada.send('PUT', `keys/${id}`, { daily_cap_cents: 5 })
    expect((await as('POST', 'keys', {})).status).toBe(403)
  })

  async function boundedBy(set: object) {
    const ada = await world.person()
    const { body } = await ada.send('POST', 'keys', { name: 'bounded', ...set })
    return { ada, id: body.id, as: world.byKey(body.key).send }
  }
})
