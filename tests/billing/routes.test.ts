// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { createTeam } from '../accounts/orgs/team'
import { at, refusals } from '../support/refusals'
import { createWorld } from '../support/world'

const world = await createWorld()
const team = await createTeam(world)
for (const person of [team.owner, team.admin, team.member]) await person.send('POST', `orgs/${team.id}/activate`)
const orgKey = await team.orgKey(team.owner)
const membersKey = await team.orgKey(team.member)
const checkout = { amount_cents: 500 }

/** What each caller gets for each wish: the scope it is about, or the code of the refusal. */
const OWNER_FILTER: [string, { send: typeof orgKey.send }, string | undefined, string][] = [
  ['an owner in the team', team.owner, undefined, 'org'],
  ['an admin in the team', team.admin, undefined, 'org'],
  ['a member in the team', team.member, undefined, 'user'],
  ['someone without a team', team.outsider, undefined, 'user'],
  ['an owner who says user', team.owner, 'user', 'user'],
  ['an owner who says org', team.owner, 'org', 'org'],
  ['a member who says org', team.member, 'org', 'forbidden'],
  ['someone without a team who says org', team.outsider, 'org', 'org_required'],
  ['a key of the org', orgKey, undefined, 'org'],
  ['a key of the org that says user', orgKey, 'user', 'forbidden'],
  ['a key of the org whose maker may not', membersKey, undefined, 'forbidden'],
]

describe('whose money it is (docs/api.md 18.2)', () => {
  test.each(OWNER_FILTER)('for %s', async (_who, { send }, scope, expected) => {
    const message = scope ? { scope } : {}
    const replies = await Promise.all([
      send('GET', `billing/limits${scope ? `?scope=${scope}` : ''}`),
      send('PATCH', 'billing/limits', { ...message, daily_cap_cents: 100_000 }),
      send('POST', 'billing/checkout', { ...message, ...checkout }),
    ])
    for (const { body } of replies) expect(body.scope ?? body.error.code).toBe(expected)
  })

  test('a team without a payment method has no portal; after its first purchase it has', async () => {
    const { status, body } = await team.owner.send('POST', 'billing/portal', {})
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'team_billing_setup_required' })
    expect((await team.member.send('POST', 'billing/portal', { scope: 'org' })).status).toBe(403)
    expect((await team.outsider.send('POST', 'billing/portal')).body.scope).toBe('user')
  })

  test("limits of a team stand in the team's record and not in the person's", async () => {
    const { headers } = await team.owner.send('PATCH', 'billing/limits', { monthly_cap_cents: 9_000 })
    const { audit } = world.app.container
    const query = { request_id: headers.get('x-request-id')!, limit: 5 }
    const rows = (await audit.list(world.app.store.read, `org:${team.id}`, query)).items
    expect(rows).toMatchObject([{ action: 'billing.limits_updated', inputSummary: { fields: ['monthly_cap_cents'] } }])
  })
})

describe('PATCH /billing/limits', () => {
  test('leaves what is left out, and null clears a cap', async () => {
    const ada = await world.person({ cents: 700 })
    await ada.send('PATCH', 'billing/limits', { daily_cap_cents: 50, low_balance_threshold_cents: 20 })
    const { body } = await ada.send('PATCH', 'billing/limits', { monthly_cap_cents: 60, daily_cap_cents: null })
    expect(body).toMatchObject({
      daily_cap_cents: null,
      monthly_cap_cents: 60,
      low_balance_threshold_cents: 20,
      auto_top_up: { enabled: false, threshold_cents: null, amount_cents: null, last: null },
      usage: { daily_used_cents: 0, monthly_used_cents: 0, balance_cents: 700, reserved_cents: 0 },
    })
  })

  test('records the names of what it changed, and nothing where it changed nothing', async () => {
    const ada = await world.person()
    const changed = { daily_cap_cents: 50, low_balance_threshold_cents: 20, colour: 'red', scope: 'user' }
    for (const body of [{}, { scope: 'user' }, { colour: 'red' }, changed]) {
      expect((await ada.send('PATCH', 'billing/limits', body)).status).toBe(200)
    }
    const { audit } = world.app.container
    const { items } = await audit.list(world.app.store.read, `user:${ada.userId}`, { limit: 10 })
    expect(items.filter(({ action }) => action === 'billing.limits_updated')).toMatchObject([
      { entityType: 'billing', inputSummary: { fields: ['daily_cap_cents', 'low_balance_threshold_cents'] } },
    ])
  })

  test('without a processor there is nothing that could top up by itself', async () => {
    const auto_top_up = { enabled: true, threshold_cents: 500, amount_cents: 500 }
    const { status, body } = await team.outsider.send('PATCH', 'billing/limits', { auto_top_up })
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'conflict' })
  })
})

/** Addresses nobody is sent to (docs/attacks.md F8, docs/api.md 1.5 `url_blocked`). */
const HOSTILE = [
  'javascript:alert(1)',
  'data:text/html,hi',
  '//evil.example.com',
  '/relative',
  'ftp://shop.example.com/',
  'https://user:secret@shop.example.com/',
  'https://x.example.com/\r\nSet-Cookie: a=b',
  'https://x.example.com/#\r\nSet-Cookie: a=b',
  'https://x.example.com/\u0007',
  'https://shop.example.com\\@evil.example.com/',
  'http://169.254.169.254/latest/meta-data',
  'http://10.0.0.1/',
  'http://[fd00::1]/',
  'https://',
]

describe('addresses a browser is sent back to', () => {
  test.each(HOSTILE)('%p is refused everywhere', async (url) => {
    const replies = await Promise.all([
      team.outsider.send('POST', 'billing/checkout', { ...checkout, success_url: url }),
      team.outsider.send('POST', 'billing/checkout', { ...checkout, cancel_url: url }),
      team.outsider.send('POST', 'billing/portal', { return_url: url }),
    ])
    expect(replies.map(({ status, body }) => [status, body.error.code, body.error.param])).toEqual([
      [400, 'url_blocked', 'success_url'],
      [400, 'url_blocked', 'cancel_url'],
      [400, 'url_blocked', 'return_url'],
    ])
  })

  test.each(['https://shop.example.com/ok?a={ID}#/billing', 'http://localhost:5173/done', 'http://127.0.0.1:5173/'])(
    '%p is fine outside production',
    async (url) => {
      expect((await team.outsider.send('POST', 'billing/checkout', { ...checkout, success_url: url })).status).toBe(200)
    },
  )
})

refusals('PATCH /billing/limits refuses', { world, as: team.outsider, request: 'PATCH billing/limits' }, [
  ...at('daily_cap_cents', { daily_cap_cents: 0 }, { daily_cap_cents: -1 }),
  ...at('monthly_cap_cents', { monthly_cap_cents: 1.5 }, { monthly_cap_cents: '100' }),
  ...at('low_balance_threshold_cents', { low_balance_threshold_cents: -1 }, { low_balance_threshold_cents: null }),
  ...at('auto_top_up', { auto_top_up: true }),
  ...at('scope', { scope: 'everyone' }),
])
