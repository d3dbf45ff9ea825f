import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/**
 * E: a body that names more than it may. What nobody may set is ignored, and reads back as it was; a
 * create never becomes an update. docs/attacks.md E8 and E10 stand with browser sessions and policies. That answers
 * have the members of the contract and no others (docs/attacks.md E11) tests/support/conformance holds for every test.
 */

const target = await startTarget()
const { send, people, moneyOf } = target

const U2 = (await send('GET', 'auth/me', { as: 'k2' })).body.user.id as string
const ORG2 = (await send('POST', 'orgs', { as: 'k2', body: { name: 'Theirs' } })).body.id as string
const org = (await send('POST', 'orgs', { body: { name: 'Mine' } })).body.id as string
const talk = (await send('POST', 'completions', { body: { prompt: 'hello', mode: 'fast' } })).body
  .conversation_id as string
const key = (await send('POST', 'keys', { body: { name: 'mine' } })).body.id as string

/** Names that are internal, someone else's, or an operator's to set, on whatever thing. */
const GREED = {
  id: people.keyIds.k2,
  object: 'admin',
  user_id: U2,
  userId: U2,
  owner: `user:${U2}`,
  owner_id: U2,
  scope_owner: `user:${U2}`,
  orgId: ORG2,
  tier: 'enterprise',
  plan: 'enterprise',
  role: 'owner',
  platform_role: 'admin',
  platformRole: 'admin',
  status: 'revoked',
  hash: '0'.repeat(64),
  key_hash: '0'.repeat(64),
  prefix: 'svc_sk_live_mine',
  key: 'svc_sk_live_mine',
  signing_secret: 'mine',
  failure_count: -1,
  consecutive_failures: -1,
  last_fired_at: '1970-01-01T00:00:00Z',
  disabled_reason: 'mine',
  created: '1970-01-01T00:00:00Z',
  created_at: 0,
  updated: '1970-01-01T00:00:00Z',
  last_used_at: '1970-01-01T00:00:00Z',
  revoked_at: '1970-01-01T00:00:00Z',
  rotating_until: '2099-01-01T00:00:00Z',
  balance_cents: 999_999,
  spent_today_cents: -1,
  spent_month_cents: -1,
  held_cents: -1,
  routing_preference_id: people.keyIds.k2,
  guardrail_policy_id: people.keyIds.k2,
  member_count: 99,
  email_verified: true,
  suspended_at: null,
  deleted_at: null,
  granted_tier: 'enterprise',
  current_tier: 'free',
  decided_at: '1970-01-01T00:00:00Z',
  request_id: 'req_mine',
}

/** The members of an answer that a greedy body would have changed, had it been obeyed. */
const stolen = (body: Record<string, unknown>, allowed: readonly string[] = []): string[] =>
  Object.entries(GREED)
    .filter(([name, value]) => !allowed.includes(name) && name in body && body[name] === value && value !== null)
    .map(([name]) => name)

/** A body without what moves by itself. */
const still = (body: object): string =>
  JSON.stringify(body).replace(/"(updated|updatedAt|last_used_at|request_id)":"[^"]*",?/g, '')

describe('E. a create takes only what it may', () => {
  const CREATES = [
    ['POST keys', { name: 'greedy' }, 201],
    ['POST orgs', { name: 'Greedy' }, 201],
    ['POST rate-limits/request-increase', { requested_tier: 'pro', use_case: 'a', expected_volume: 'b' }, 201],
    // docs/attacks.md E7
    ['POST webhooks', { url: 'https://203.0.112.7/hook', event_types: ['order.*'] }, 201],
    ['POST hooks', { hook_preset_id: 'task.overdue.summary' }, 201],
    ['POST completions', { prompt: 'greedy', mode: 'fast' }, 200],
    ['POST chat/completions', { messages: [{ role: 'user', content: 'greedy' }] }, 200],
  ] as const

  test.each(CREATES)('E %s', async (ask, wanted, status) => {
    const [method, path] = ask.split(' ') as [string, string]
    const reply = await send(method, path, { as: 'free', body: { ...GREED, ...wanted } })
    expect({ ask, status: reply.status }).toEqual({ ask, status })
    const mine = ask === 'POST orgs' ? ['role'] : ask.includes('request-increase') ? ['current_tier'] : []
    expect(stolen(reply.body, mine)).toEqual([])
    expect(reply.body.id).not.toBe(GREED.id)
  })

  test('E1 an id in the body never makes a create an update (CVE-2026-41277)', async () => {
    const before = (await send('GET', `keys/${people.keyIds.k1b}`)).body
    const made = await send('POST', 'keys', { body: { id: people.keyIds.k1b, name: 'upserted' } })
    expect(made.status).toBe(201)
    expect(made.body.id).not.toBe(people.keyIds.k1b)
    const { request_id: _, last_used_at: __, ...after } = (await send('GET', `keys/${people.keyIds.k1b}`)).body
    expect(before).toMatchObject(after)
  })

  test('E5 an org belongs to its creator, and no body can add a user to another one', async () => {
    const made = (await send('POST', 'orgs', { body: { ...GREED, name: 'Owned', org_id: ORG2 } })).body
    expect(made).toMatchObject({ role: 'owner', member_count: 1, type: 'team' })
    expect((await send('GET', `orgs/${made.id}`, { as: 'k2' })).status).toBe(404)
    expect((await send('GET', `orgs/${ORG2}`)).status).toBe(404)
  })

  test('E a key is not made for another user or org', async () => {
    const made = (await send('POST', 'keys', { body: { ...GREED, name: 'greedy' } })).body
    expect(made).toMatchObject({ scope: 'personal', org_id: null, tier: 'free', status: 'active' })
    expect((await send('GET', `keys/${made.id}`, { as: 'k2' })).status).toBe(404)
    expect((await send('POST', 'keys', { body: { name: 'x', org_id: ORG2 } })).status).toBe(404)
  })

  test('E signing up grants no reviewer role and no extra credit', async () => {
    const account = { email: 'greedy@example.com', password: 'a long enough password' }
    const { status, body } = await send('POST', 'auth/signup', { as: null, body: { ...GREED, ...account } })
    expect(status).toBe(201)
    expect(await moneyOf(account.email)).toEqual({ balance: 0, held: 0 })
    const decision = { decision: 'approve' }
    const tried = await send('POST', 'rate-limits/requests/rli_000000000000000000000000/decision', {
      key: body.session_token,
      body: decision,
    })
    expect({ status: tried.status, code: tried.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })
})

describe('E. a change takes only what it may', () => {
  const CHANGES: [string, string, object][] = [
    [`PUT keys/${key}`, `keys/${key}`, {}],
    [`PATCH keys/${key}`, `keys/${key}`, {}],
    [`PATCH orgs/${org}`, `orgs/${org}`, {}],
    [`PATCH conversations/${talk}`, `conversations/${talk}`, { title: 'kept' }],
    ['PATCH settings', 'settings', { timezone: 'UTC' }],
    ['PATCH billing/limits', 'billing/limits', {}],
  ]

  test.each(CHANGES)('E4 %s', async (ask, path, wanted) => {
    const [method, at] = ask.split(' ') as [string, string]
    await send(method, at, { body: wanted })
    const before = (await send('GET', path)).body
    const money = await moneyOf(people.emailOf('k1'))
    const changed = await send(method, at, { body: { ...GREED, ...wanted } })
    expect({ ask, status: changed.status }).toEqual({ ask, status: 200 })
    const after = (await send('GET', path)).body
    expect(still(after)).toEqual(still(before))
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort())
    expect(await moneyOf(people.emailOf('k1'))).toEqual(money)
  })

  test('E5 a member does not make themselves more', async () => {
    const guest = await people.newcomer({})
    const joined = await target.ops('POST', `/ops/v1/orgs/${org}/members`, { user: guest.email, role: 'viewer' })
    const me = joined.body.user_id as string
    const tried = await send('PATCH', `orgs/${org}/members/${me}`, { key: guest.key, body: { role: 'owner' } })
    expect({ status: tried.status, code: tried.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  test('E a rotation changes the secret and nothing else', async () => {
    const before = (await send('GET', `keys/${key}`)).body
    const { status, body } = await send('POST', `keys/${key}/rotate`, { body: { ...GREED, grace_period_seconds: 0 } })
    expect(status).toBe(200)
    const { request_id: _, prefix: __, ...same } = before
    expect(body).toMatchObject(same)
    expect(body.key).not.toBe(GREED.key)
  })

  test('E a prototype in a body changes no object', async () => {
    const poisoned = '{"name":"p","__proto__":{"tier":"enterprise"},"constructor":{"prototype":{"tier":"enterprise"}}}'
    const { status, body } = await send('POST', 'keys', { body: poisoned })
    if (status === 201) expect(body.tier).toBe('free')
    else expect(status).toBe(400)
    expect((await send('POST', 'keys', { body: { name: 'after' } })).body.tier).toBe('free')
  })
})

test('nothing of the inside is in an answer', async () => {
  const mine = ['keys', `keys/${key}`, 'orgs', `orgs/${org}/members`]
  for (const path of [...mine, 'auth/me', 'settings', 'billing/limits', 'audit']) {
    const { text } = await send('GET', path)
    expect(text).not.toMatch(/(?<!"has_)password|key_hash|token_hash|master_key|rotating_until|localhost:\d/i)
    expect(text).not.toContain(U2)
  }
})

keepsItsPromises(target)
