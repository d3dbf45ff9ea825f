import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const SOON = '2099-01-01T00:00:00.000Z'
const LATER = '2099-06-01T00:00:00.000Z'
const bounds = {
  ...{ rpm_limit: 30, tpm_limit: 1_000, daily_cap_cents: 100, monthly_cap_cents: 500, expires_at: SOON },
  allowed_origins: ['https://a.example', 'https://b.example'],
}

/** A key with every bound there is, and its maker's other one. */
async function bounded(set: object = bounds) {
  const ada = await world.person()
  const { body } = await ada.send('POST', 'keys', { name: 'bounded', ...set })
  const own = (change: object) => world.send('PUT', `keys/${body.id}`, change, { authorization: `Bearer ${body.key}` })
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
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
    expect(body.error.message).toContain(`"${field}"`)
    expect((await ada.send('GET', `keys/${id}`)).body).toMatchObject({ name: 'bounded', ...bounds })
  })

  test('may narrow itself, and change what is no bound', async () => {
    const { own } = await bounded()
    const change = {
      ...{ name: 'smaller', rpm_limit: 10, daily_cap_cents: 100, monthly_cap_cents: 1 },
      ...{ allowed_origins: ['https://b.example'], brand_soul: { persona: 'calm' } },
    }
    expect(await own(change)).toMatchObject({ status: 200, body: { ...change, brand_soul: { persona: 'calm' } } })
  })

  test('may take on bounds it never had', async () => {
    const { own } = await bounded({})
    expect(await own(bounds)).toMatchObject({ status: 200, body: bounds })
  })

  test('is widened by another key of its maker', async () => {
    const { ada, id } = await bounded()
    for (const [, change] of wider) expect((await ada.send('PUT', `keys/${id}`, change)).status).toBe(200)
  })
})
