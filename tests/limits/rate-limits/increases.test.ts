import { describe, expect, test } from 'bun:test'
import type { DomainEvent } from '../../../src/events'
import { type Refusal, refusals } from '../../support/refusals'
import { createWorld, operatorCall, type Person } from '../../support/world'

const world = await createWorld({ config: { signup: 'open' } })
const { container, store } = world.app
const news: DomainEvent[] = []
for (const node of world.nodes) node.container.events.afterCommit('*', (event) => news.push(event))

const ORDER = { requested_tier: 'pro', use_case: 'nightly reports', expected_volume: '500 a minute' }
const ask = (person: Pick<Person, 'send'>, input: object = {}) =>
  person.send('POST', 'rate-limits/request-increase', { ...ORDER, ...input })

let accounts = 0
/** A person in the dashboard, a platform reviewer when told so. */
async function inDashboard(role: 'reviewer' | 'security_reviewer' | 'admin' | null = null) {
  const account = { email: `account${++accounts}@example.com`, password: 'correct horse battery staple' }
  if (role !== null) {
    const passwordHash = await Bun.password.hash(account.password)
    await store.write((tx) => container.orgs.createUser(tx, { email: account.email, passwordHash, platformRole: role }))
  }
  const { body } = await world.send('POST', role ? 'auth/sessions' : 'auth/signup', account)
  const authorization = `Bearer ${body.session_token}`
  const send: Person['send'] = (method, path, sent, headers = {}) =>
    world.send(method, path, sent, { authorization, ...headers })
  return { userId: body.user.id as string, send }
}
const reviewer = await inDashboard('reviewer')
const decide = (id: string, body: object, by: Pick<Person, 'send'> = reviewer) =>
  by.send('POST', `rate-limits/requests/${id}/decision`, body)

describe('POST /rate-limits/request-increase', () => {
  test('waits for a decision, and GET /rate-limits shows it', async () => {
    const ada = await world.person({ tier: 'free' })
    const { status, body } = await ask(ada)
    expect(status).toBe(201)
    expect(body).toMatchObject({ object: 'rate_limit_increase', status: 'pending', current_tier: 'free', ...ORDER })
    expect(body.user_id).toBe((await ada.send('GET', 'auth/me')).body.user.id)
    expect(body.id).toMatch(/^rli_[0-9A-Za-z]{24}$/)
    const { request_id: _, ...request } = body
    expect((await ada.send('GET', 'rate-limits')).body.pending_request).toEqual(request)
    expect((await ada.send('GET', 'audit?action=rate_limit.requested')).body).toMatchObject([
      {
        ...{ entityType: 'rate_limit', entityId: body.id },
        inputSummary: { metadata: { current_tier: 'free', requested_tier: body.requested_tier } },
      },
    ])
  })

  test('takes nothing from the body that is not asked for', async () => {
    const ada = await world.person({ tier: 'free' })
    const greedy = { id: 'rli_mine', status: 'approved', current_tier: 'pro', granted_tier: 'pro', user_id: 'x' }
    expect((await ask(ada, greedy)).body).toMatchObject({ status: 'pending', current_tier: 'free', granted_tier: null })
    expect((await ada.send('GET', 'rate-limits')).body.tier).toBe('free')
  })

  test('is one at a time, even of twenty at once', async () => {
    const ada = await world.person({ tier: 'free' })
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => ask(ada)))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(19)
  })

  test('from a session without any key has nothing to raise', async () => {
    expect((await ask(await inDashboard())).status).toBe(409)
  })
})

const starter = await world.person({ tier: 'starter' })
const asking = { world, as: starter, request: 'POST rate-limits/request-increase', body: ORDER }
refusals('POST /rate-limits/request-increase refuses (I-11)', asking, [
  ['the tier it has', { requested_tier: 'starter' }, '"requested_tier" is "starter"'],
  ['the tier below', { requested_tier: 'free' }, '"requested_tier" is "free"'],
  ...['gold', 'PRO', '__proto__', 'constructor', '', null, 1, ['pro']].map(
    (requested_tier): Refusal => [
      `the tier ${JSON.stringify(requested_tier)}`,
      { requested_tier },
      '"requested_tier" is ',
    ],
  ),
  ['no use case', { use_case: undefined }, '"use_case" is missing'],
  ['an empty use case', { use_case: '' }, '"use_case" '],
  ['a megabyte of use case', { use_case: 'x'.repeat(1_000_000) }, '"use_case" has 1000000 characters'],
  ['no volume', { expected_volume: undefined }, '"expected_volume" is missing'],
  ['2,001 characters', { expected_volume: 'x'.repeat(2_001) }, '"expected_volume" has 2001 characters'],
  ['a volume that is a number', { expected_volume: 5 }, '"expected_volume" is 5'],
  ['of a key that is at the top', { requested_tier: 'enterprise' }, '', { as: await world.person() }],
])

test('a refused request waits for no decision', async () => {
  expect((await starter.send('GET', 'rate-limits')).body.pending_request).toBeNull()
})

describe('a decision', () => {
  test('to approve is in force with the next request, on the record, and news', async () => {
    const ada = await world.person({ tier: 'free' })
    const { id } = (await ask(ada)).body
    const { status, body } = await decide(id, { decision: 'approve', reason: 'fine' })
    expect({ status, decision: body.status, grantedTier: body.granted_tier, reason: body.reason }).toEqual({
      status: 200,
      decision: 'approved',
      grantedTier: 'pro',
      reason: 'fine',
    })
    const limits = await ada.send('GET', 'rate-limits')
    expect(limits.body).toMatchObject({ tier: 'pro', limits: { rpm: 1_000 }, pending_request: null })
    expect(limits.headers.get('x-ratelimit-limit-requests')).toBe('1000')
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body.tier).toBe('pro')
    expect((await ada.send('GET', 'audit?action=rate_limit.upgraded')).body).toMatchObject([{ entityId: id }])
    expect(
      news.filter(({ type, scope }) => type === 'rate_limit.upgraded' && scope === `user:${ada.userId}`),
    ).toMatchObject([
      {
        data: {
          key_id: ada.keyId,
          previous_tier: 'free',
          tier: 'pro',
          rpm: 1_000,
          tpm: 2_000_000,
          increase_request_id: id,
        },
      },
    ])
  })

  test('to reject changes no tier and is no news; another request may follow', async () => {
    const ada = await world.person({ tier: 'free' })
    expect((await decide((await ask(ada)).body.id, { decision: 'reject', reason: 'too soon' })).body).toMatchObject({
      status: 'rejected',
      granted_tier: null,
    })
    expect((await ada.send('GET', 'rate-limits')).body).toMatchObject({ tier: 'free', pending_request: null })
    expect(news.some(({ type, scope }) => type === 'rate_limit.upgraded' && scope === `user:${ada.userId}`)).toBe(false)
    expect((await ask(ada)).status).toBe(201)
  })

  test('is never on what the reviewer asked for, whatever credential asked', async () => {
    const other = await inDashboard('admin')
    const { body: key } = await reviewer.send('POST', 'keys', { name: 'mine' })
    const withKey = { authorization: `Bearer ${key.key}` }
    for (const request of [{}, withKey]) {
      const { body: requested } = await reviewer.send('POST', 'rate-limits/request-increase', ORDER, request)
      for (const decision of ['approve', 'reject']) {
        const refused = await decide(requested.id, { decision })
        expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
      }
      expect((await reviewer.send('GET', `keys/${key.id}`)).body.tier).toBe('free')
      expect((await decide(requested.id, { decision: 'reject' }, other)).body.status).toBe('rejected')
    }
  })

  test('on a key leaves the other keys of its owner as they are', async () => {
    const ada = await world.person({ tier: 'free' })
    const other = (await ada.send('POST', 'keys', {})).body
    await decide((await ask(ada)).body.id, { decision: 'approve' })
    expect((await ada.send('GET', `keys/${other.id}`)).body.tier).toBe('free')
  })

  test('on what a session asked raises every personal key below it, and lowers none', async () => {
    const bob = await inDashboard()
    const free = (await bob.send('POST', 'keys', { name: 'free' })).body
    const high = (await bob.send('POST', 'keys', { name: 'high' })).body
    await store.write((tx) => container.increases.setTierIn(tx, operatorCall(), high.id, 'enterprise'))
    const request = (await ask(bob)).body
    expect(request).toMatchObject({ current_tier: 'free', key_id: null })
    const withKey = { authorization: `Bearer ${free.key}` }
    expect((await world.send('GET', 'rate-limits', undefined, withKey)).body.pending_request.id).toBe(request.id)
    await decide(request.id, { decision: 'approve' })
    const tiers = (await bob.send('GET', 'keys')).body.keys.map(({ name, tier }: { name: string; tier: string }) => [
      name,
      tier,
    ])
    expect(new Map(tiers)).toEqual(
      new Map([
        ['high', 'enterprise'],
        ['free', 'pro'],
      ]),
    )
  })

  test('on a key that was revoked meanwhile raises nothing', async () => {
    const ada = await world.person({ tier: 'free' })
    const { id } = (await ask(ada)).body
    await ada.send('DELETE', `keys/${ada.keyId}`)
    expect((await decide(id, { decision: 'approve' })).status).toBe(200)
    expect((await container.keys.get(operatorCall(), ada.keyId)).tier).toBe('free')
  })

  test('is the first answer again when it is sent again under its Idempotency-Key', async () => {
    const ada = await world.person({ tier: 'free' })
    const { body: request } = await ada.send('POST', 'rate-limits/request-increase', {
      requested_tier: 'pro',
      use_case: 'more',
      expected_volume: 'more',
    })
    const send = () =>
      reviewer.send(
        'POST',
        `rate-limits/requests/${request.id}/decision`,
        { decision: 'reject' },
        { 'idempotency-key': 'd' },
      )
    const first = await send()
    const again = await send()
    expect(first.status).toBe(200)
    expect(again.text).toEqual(first.text)
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
  })

  test('is made once, even by ten reviewers at once', async () => {
    const { id } = (await ask(await world.person({ tier: 'free' }))).body
    const made = await Promise.all(Array.from({ length: 10 }, () => decide(id, { decision: 'approve' })))
    expect(made.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    expect(
      news.filter(({ data }) => (data as { increase_request_id?: string }).increase_request_id === id),
    ).toHaveLength(1)
  })

  test.each(['approve', 'reject'])('of nonsense is 400, 404 for an unknown id (%s)', async (decision) => {
    const { id } = (await ask(await world.person({ tier: 'free' }))).body
    for (const body of [{}, { decision: 'maybe' }, { decision, reason: 'x'.repeat(2_001) }]) {
      expect((await decide(id, body)).status).toBe(400)
    }
    for (const unknown of ['rli_000000000000000000000000', 'nonsense', crypto.randomUUID()]) {
      expect((await decide(unknown, { decision })).status).toBe(404)
    }
  })

  test('belongs to reviewers in the dashboard, and nobody else learns which ids exist', async () => {
    const ada = await world.person({ tier: 'free' })
    const { id } = (await ask(ada)).body
    for (const person of [ada, await world.person(), await inDashboard()]) {
      for (const request of [id, 'rli_000000000000000000000000']) {
        const { status, body } = await decide(request, { decision: 'approve' }, person)
        expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
      }
    }
    for (const role of ['security_reviewer', 'admin'] as const) {
      const request = (await ask(await world.person({ tier: 'free' }))).body
      expect((await decide(request.id, { decision: 'reject' }, await inDashboard(role))).status).toBe(200)
    }
  }, 30_000)
})
