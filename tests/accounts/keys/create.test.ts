import { describe, expect, test } from 'bun:test'
import type { NewKey } from '../../../src/accounts/keys/schema'
import { iso } from '../../../src/kernel/clock'
import { callOf, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { ALL_SCOPES, createWorld } from './world'

const store = await openTestStore()

describe('POST /keys', () => {
  test('gives every scope, the Free tier and the name "API Key" when nothing is said', async () => {
    const { keys, addUser, session } = createWorld(store)
    const ada = await addUser()
    const made = await keys.create(await session(ada.id), {})
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'api_key',
      name: 'API Key',
      prefix: made.key.slice(0, 16),
      scopes: ALL_SCOPES,
      scope: 'personal',
      org_id: null,
      tier: 'free',
      status: 'active',
      rpm_limit: null,
      tpm_limit: null,
      daily_cap_cents: null,
      monthly_cap_cents: null,
      spent_today_cents: 0,
      spent_month_cents: 0,
      allowed_origins: [],
      brand_soul: null,
      routing_preference_id: null,
      routing_rules: [],
      confidence_floor_overrides: {},
      guardrail_policy_id: null,
      created: '2026-01-01T00:00:00.000Z',
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      key: expect.stringMatching(/^svc_sk_live_[0-9A-Za-z]{48}$/),
    })
  })

  test('never shows the secret again, nor its hash, nor who made it', async () => {
    const { keys, addUser, session } = createWorld(store)
    const ada = await session((await addUser()).id)
    const { key, ...shown } = await keys.create(ada, {})
    expect(await keys.get(ada, shown.id)).toEqual(shown)
    expect(JSON.stringify(await keys.list(ada, { limit: 50 }))).not.toContain(key.slice(16))
  })

  test('labels a test key as one', async () => {
    const { keys, addUser, session } = createWorld(store)
    const made = await keys.create(await session((await addUser()).id), { test: true })
    expect(made.key).toStartWith('svc_sk_test_')
  })

  test('leaves one audit row and one event, without the secret in either', async () => {
    const { keys, addUser, session, audit, heard } = createWorld(store)
    const ada = await addUser()
    const made = await keys.create(await session(ada.id), { name: 'ci', scopes: ['tools'] })
    const rows = (await audit.list(store.read, `user:${ada.id}`, { limit: 10 })).items
    expect(rows).toMatchObject([{ action: 'key.created', entityType: 'api_key', entityId: made.id, userId: ada.id }])
    expect(heard).toMatchObject([
      {
        type: 'key.created',
        scope: `user:${ada.id}`,
        data: { key_id: made.id, name: 'ci', prefix: made.prefix, scopes: ['tools'], scope: 'personal', org_id: null },
      },
    ])
    expect(JSON.stringify([rows, heard])).not.toContain(made.key)
  })

  test('keeps origins as browsers send them, each once, and each scope once', async () => {
    const { keys, addUser, session } = createWorld(store)
    const made = await keys.create(await session((await addUser()).id), {
      scopes: ['tools', 'tools'],
      allowed_origins: [
        'https://App.Example',
        'https://app.example/',
        'http://localhost:5173',
        'https://app.example:443',
      ],
    })
    expect(made).toMatchObject({ scopes: ['tools'], allowed_origins: ['https://app.example', 'http://localhost:5173'] })
  })

  const refusals: { why: string; body: NewKey; code: string; says: string }[] = [
    {
      why: 'a limit above the tier',
      body: { rpm_limit: 61 },
      code: 'validation_error',
      says: '"rpm_limit" is 61; tier free allows 60',
    },
    {
      why: 'tokens above the tier',
      body: { tpm_limit: 100_001 },
      code: 'validation_error',
      says: '"tpm_limit" is 100001',
    },
    {
      why: 'an end that is over',
      body: { expires_at: '2025-12-31T23:59:59Z' },
      code: 'validation_error',
      says: 'not in the future',
    },
    {
      why: 'an origin with a path',
      body: { allowed_origins: ['https://app.example/x'] },
      code: 'validation_error',
      says: 'allowed_origins[0]',
    },
    { why: 'a star for an origin', body: { allowed_origins: ['*'] }, code: 'validation_error', says: '"*"' },
    {
      why: 'an origin with a password',
      body: { allowed_origins: ['https://a:b@app.example'] },
      code: 'validation_error',
      says: 'allowed_origins[0]',
    },
    {
      why: 'an origin that is no web page',
      body: { allowed_origins: ['file:///a'] },
      code: 'validation_error',
      says: 'scheme and a host',
    },
    {
      why: 'an org without one active',
      body: { scope: 'org' },
      code: 'org_required',
      says: 'POST /orgs/{id}/activate',
    },
    {
      why: 'an org for a personal key',
      body: { scope: 'personal', org_id: crypto.randomUUID() },
      code: 'validation_error',
      says: '"org_id"',
    },
    { why: 'an org nobody knows', body: { org_id: crypto.randomUUID() }, code: 'not_found', says: 'No organization' },
    { why: 'an org id that is none', body: { org_id: '../etc' }, code: 'not_found', says: 'No organization' },
  ]
  test.each(refusals)('refuses $why, and leaves nothing behind', async ({ body, code, says }) => {
    const { keys, addUser, session, actions, heard } = createWorld(store)
    const ada = await addUser()
    const refusal = await keys.create(await session(ada.id), body).catch((error: Error) => error)
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(says) })
    expect([await actions(ada.id), heard]).toEqual([[], []])
  })
})

describe('what a key may give', () => {
  test('only scopes it has', async () => {
    const { keys, addUser, withKey } = createWorld(store)
    const { call } = await withKey((await addUser()).id, { scopes: ['billing', 'tools'] })
    expect(keys.create(call, { scopes: ['billing', 'connectors'] })).rejects.toMatchObject({
      code: 'missing_scope',
      message: expect.stringContaining('not connectors'),
    })
    expect(keys.create(call, {})).rejects.toMatchObject({ code: 'missing_scope' })
    expect(await keys.create(call, { scopes: ['tools'] })).toMatchObject({ scopes: ['tools'] })
  })
})

describe("an org's keys", () => {
  test('go to the active org, to the named one, and nowhere without the permission', async () => {
    const { keys, orgs, addUser, addOrg, session } = createWorld(store)
    const [ada, eve] = [await addUser('ada'), await addUser('eve')]
    const acme = await addOrg(ada.id)
    expect(await keys.create(await session(ada.id), { org_id: acme.id })).toMatchObject({
      scope: 'org',
      org_id: acme.id,
    })
    await orgs.activate(await session(ada.id), acme.id)
    expect(await keys.create(await session(ada.id), { scope: 'org' })).toMatchObject({ scope: 'org', org_id: acme.id })
    expect(await keys.create(await session(ada.id), {})).toMatchObject({ scope: 'personal', org_id: null })
    expect(keys.create(await session(eve.id), { org_id: acme.id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('make keys of their org and no personal ones', async () => {
    const { keys, addUser, addOrg, withKey } = createWorld(store)
    const ada = await addUser()
    const [acme, other] = [await addOrg(ada.id), await addOrg(ada.id, 'Other')]
    const { call } = await withKey(ada.id, { orgId: acme.id })
    expect(await keys.create(call, {})).toMatchObject({ scope: 'org', org_id: acme.id })
    expect(keys.create(call, { scope: 'personal' })).rejects.toMatchObject({ code: 'forbidden' })
    expect(keys.create(call, { org_id: other.id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('are recorded in the chain of the org', async () => {
    const { keys, audit, addUser, addOrg, session } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id)
    await keys.create(await session(ada.id), { org_id: acme.id })
    const rows = (await audit.list(store.read, `org:${acme.id}`, { limit: 10 })).items
    expect(rows.map((row) => row.action)).toEqual(['key.created', 'org.created'])
  })
})

describe('an operator', () => {
  test('makes keys of any tier, found by id, prefix or name', async () => {
    const { keys, addUser, withKey } = createWorld(store)
    const name = `deploy-${crypto.randomUUID()}`
    const { key } = await withKey((await addUser()).id, { name, tier: 'enterprise', rpm_limit: 4_000 })
    const operatorCall = callOf(operatorCaller())
    for (const ref of [key.id, key.prefix, name]) {
      expect(await keys.operator.get(operatorCall, ref)).toMatchObject({ id: key.id, tier: 'enterprise' })
    }
    expect(await keys.operator.update(operatorCall, key.prefix, { rpm_limit: 9 })).toMatchObject({ rpm_limit: 9 })
    expect(keys.operator.get(operatorCall, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is told when a name is not one key', async () => {
    const { keys, clock, addUser, withKey } = createWorld(store)
    const ada = await addUser()
    const name = `twin-${crypto.randomUUID()}`
    const [first] = [await withKey(ada.id, { name }), await withKey(ada.id, { name })]
    const operatorCall = callOf(operatorCaller())
    expect(keys.operator.get(operatorCall, name)).rejects.toMatchObject({ code: 'validation_error' })
    expect(await keys.operator.revoke(operatorCall, first.key.id)).toMatchObject({
      id: first.key.id,
      status: 'revoked',
      revoked_at: iso(clock.now()),
    })
    clock.advance(1_000)
    expect(await keys.operator.revoke(operatorCall, first.key.id)).toMatchObject({
      id: first.key.id,
      status: 'revoked',
      revoked_at: iso(clock.now() - 1_000),
    })
    expect(await keys.operator.get(operatorCall, name)).toMatchObject({ status: 'active' })
  })
})
