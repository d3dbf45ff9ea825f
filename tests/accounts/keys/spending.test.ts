import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../../completions/upstream-world'
import type { Person } from '../../support/world'

const { world } = await createUpstreamWorld()

const complete = (person: Pick<Person, 'send'>) =>
  person.send('POST', 'completions', { prompt: freshPrompt(), mode: 'think' })
const keyOf = async (person: Person) => (await person.send('GET', `keys/${person.keyId}`)).body

describe('what a key has spent', () => {
  test('is what its calls cost, to the micro-cent, and of no other key', async () => {
    const ada = await world.person()
    const other = (await ada.send('POST', 'keys', {})).body
    const replies = [await complete(ada), await complete(ada), await complete(ada)]
    const cost = replies.reduce((sum, { body }) => sum + Math.round(body.usage.cost_cents * 1e6), 0)
    expect(cost).toBeGreaterThan(0)
    const { spent_today_cents, spent_month_cents } = await keyOf(ada)
    expect(Math.round(spent_today_cents * 1e6)).toEqual(cost)
    expect(Math.round(spent_month_cents * 1e6)).toEqual(cost)
    expect(other).toMatchObject({ spent_today_cents: 0, spent_month_cents: 0 })
    expect((await ada.send('GET', `keys/${other.id}`)).body.spent_today_cents).toBe(0)
  })

  test('stays with the key when its secret is rotated', async () => {
    const ada = await world.person()
    await complete(ada)
    const before = (await keyOf(ada)).spent_today_cents
    const rotated = (await ada.send('POST', `keys/${ada.keyId}/rotate`, { grace_period_seconds: 60 })).body
    expect(rotated.spent_today_cents).toBe(before)
    const { body } = await complete(world.byKey(rotated.key))
    expect((await keyOf(ada)).spent_today_cents).toBeCloseTo(before + body.usage.cost_cents, 6)
  })
})

test.each(['daily_cap_cents', 'monthly_cap_cents'])(
  'a cap of a key: %s stops it with 402 and lets it go on when raised',
  async (cap) => {
    const ada = await world.person()
    const capped = (await ada.send('POST', 'keys', { [cap]: 1 })).body
    const { send } = world.byKey(capped.key)
    // A prompt that may cost more than the cent it is allowed.
    const input = { prompt: `${freshPrompt()} ${'word '.repeat(60_000)}`, mode: 'think' }
    const refused = await send('POST', 'completions', input)
    expect(refused).toMatchObject({ status: 402, body: { error: { code: 'insufficient_credits' } } })
    expect((await complete({ send: ada.send })).status).toBe(200)
    expect((await ada.send('PUT', `keys/${capped.id}`, { [cap]: 100_000 })).body[cap]).toBe(100_000)
    expect((await send('POST', 'completions', input)).status).toBe(200)
    expect((await ada.send('PUT', `keys/${capped.id}`, { [cap]: null })).body[cap]).toBeNull()
  },
)

test('a dashboard session: makes, changes, rotates and revokes the keys of its user', async () => {
  const account = { email: 'dash@example.com', password: 'correct horse battery staple' }
  const passwordHash = await Bun.password.hash(account.password)
  const { store, container } = world.app
  await store.write((tx) => container.orgs.createUser(tx, { email: account.email, passwordHash }))
  const { body } = await world.send('POST', 'auth/sessions', account)
  const session = { authorization: `Bearer ${body.session_token}` }
  const made = (await world.send('POST', 'keys', { name: 'one' }, session)).body
  expect(made.scopes).toHaveLength(5)
  expect((await world.send('PUT', `keys/${made.id}`, { name: 'two' }, session)).body.name).toBe('two')
  const rotated = await world.send('POST', `keys/${made.id}/rotate`, {}, session)
  expect({ status: rotated.status, keyStatus: rotated.body.status }).toEqual({ status: 200, keyStatus: 'rotating' })
  expect((await world.send('DELETE', `keys/${made.id}`, undefined, session)).body.revoked).toBe(true)
  for (const key of [made.key, rotated.body.key]) {
    expect((await world.byKey(key).send('GET', 'models')).status).toBe(401)
  }
}, 30_000)
