import { describe, expect, test } from 'bun:test'
import { createKeyLookup, createKeyUses, mintSecret, startUsesLoop } from '../../../src/accounts'
import { sha256Hex } from '../../../src/kernel/crypto'
import type { KeyId } from '../../../src/kernel/ids'
import { callOf, operatorCaller } from '../../support/callers'
import { agedChanges } from '../../support/changes'
import { openTestStore } from '../../support/store'
import { createAuthWorld } from '../auth/world'
import { counting, createWorld } from './world'

const store = await openTestStore()
const asOperator = () => callOf(operatorCaller())

const flip = (token: string) => token.slice(0, -1) + (token.at(-1) === 'a' ? 'b' : 'a')

describe('a key as it was sent', () => {
  test('becomes its caller', async () => {
    const { addUser, withKey, lookup } = createWorld(store)
    const ada = await addUser()
    const { key } = await withKey(ada.id, {
      tier: 'pro',
      scopes: ['tools'],
      rpm_limit: 5,
      monthly_cap_cents: 9,
      allowed_origins: ['https://a.example'],
    })
    expect(await lookup.find(key.key)).toEqual({
      type: 'key',
      userId: ada.id,
      keyId: key.id,
      secretHash: sha256Hex(key.key),
      orgId: null,
      activeOrgId: null,
      scopes: ['tools'],
      tier: 'pro',
      rpmLimit: 5,
      tpmLimit: null,
      dailyCapCents: null,
      monthlyCapCents: 9,
      allowedOrigins: ['https://a.example'],
      hasBrandSoul: false,
      chatParameters: 'by_base',
      guardrailPolicyId: null,
      bindings: '',
    })
  })

  test('is read once and then known at once', async () => {
    const world = createWorld(store)
    const { key } = await world.withKey((await world.addUser()).id)
    const counted = counting(store, 'prepared')
    const lookup = createKeyLookup({ ...world, store: counted.store })
    await lookup.find(key.key)
    const after = counted.reads()
    expect(lookup.find(key.key)).not.toBeInstanceOf(Promise)
    expect({ after: after > 0, reads: counted.reads() - after }).toEqual({ after: true, reads: 0 })
  })

  test('never reaches the database when it cannot be ours (A10)', async () => {
    const world = createWorld(store)
    const { key } = await world.withKey((await world.addUser()).id)
    const counted = counting(store, 'prepared')
    const lookup = createKeyLookup({ ...world, store: counted.store })
    for (const bad of [
      flip(key.key),
      key.key.toLowerCase(),
      `${key.key}x`,
      'svc_sk_live_',
      key.prefix,
      '',
      mintSecret('svc_ds_').token,
    ]) {
      expect(lookup.find(bad)).toBeNull()
    }
    expect(counted.reads()).toBe(0)
  })

  test('of the right form that nobody has is no one', async () => {
    expect(await createWorld(store).lookup.find(mintSecret('svc_sk_live_').token)).toBeNull()
  })

  test('ends at its end, known or not', async () => {
    const { addUser, withKey, lookup, clock } = createWorld(store)
    const { key } = await withKey((await addUser()).id, { expires_at: '2026-01-01T00:01:00Z' })
    clock.advance(59_999)
    expect(await lookup.find(key.key)).toMatchObject({ keyId: key.id })
    clock.advance(1)
    expect(await lookup.find(key.key)).toBeNull()
    lookup.forgetAll()
    expect(await lookup.find(key.key)).toBeNull()
  })
})

describe('a change is in force at once (I26)', () => {
  test('no call that begins after a revocation is answered gets through', async () => {
    const { addUser, withKey, lookup, keys } = createWorld(store)
    const { key, call } = await withKey((await addUser()).id)
    let acknowledged = false
    let late = 0
    let served = 0
    const hammer = async () => {
      for (let n = 0; n < 500; n++) {
        const begunAfter = acknowledged
        const caller = await lookup.find(key.key)
        if (caller && begunAfter) late++
        if (caller) served++
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const revoking = new Promise((resolve) => setImmediate(resolve))
      .then(() => keys.revoke(call, key.id))
      .then(() => {
        acknowledged = true
      })
    await Promise.all([...Array.from({ length: 20 }, hammer), revoking])
    expect({ late, some: served > 0, after: await lookup.find(key.key) }).toEqual({ late: 0, some: true, after: null })
  })

  test('a read that a revocation overtook is not remembered', async () => {
    const world = createWorld(store)
    const { key, call } = await world.withKey((await world.addUser()).id)
    const held = Promise.withResolvers<void>()
    const orgs = {
      ...world.orgs,
      accessOf: async (...args: Parameters<typeof world.orgs.accessOf>) => {
        const access = await world.orgs.accessOf(...args)
        await held.promise
        return access
      },
    }
    const lookup = createKeyLookup({ ...world, orgs })
    const early = lookup.find(key.key)
    await world.keys.revoke(call, key.id)
    lookup.forgetAll()
    held.resolve()
    await early
    expect(await lookup.find(key.key)).toBeNull()
  })

  test('so are scopes, the active org, a suspended org and a disabled account', async () => {
    const { addUser, addOrg, withKey, session, lookup, keys, orgs } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id)
    const [mine, ours] = [await withKey(ada.id), await withKey(ada.id, { orgId: acme.id })]
    await keys.update(await session(ada.id), mine.key.id, { scopes: ['tools'] })
    expect(await lookup.find(mine.key.key)).toMatchObject({ scopes: ['tools'], activeOrgId: null })
    await orgs.activate(await session(ada.id), acme.id)
    expect(await lookup.find(mine.key.key)).toMatchObject({ orgId: null, activeOrgId: acme.id })
    await orgs.setOrgSuspended(asOperator(), acme.id, true)
    expect(await lookup.find(ours.key.key)).toBeNull()
    expect(await lookup.find(mine.key.key)).toMatchObject({ activeOrgId: null })
    await orgs.setOrgSuspended(asOperator(), acme.id, false)
    expect(await lookup.find(ours.key.key)).toMatchObject({ orgId: acme.id, activeOrgId: acme.id })
    await orgs.setUserDisabled(asOperator(), ada.id, true)
    expect(await lookup.find(mine.key.key)).toBe(null)
    expect(await lookup.find(ours.key.key)).toBe(null)
  })

  test('what another node changed is seen within a second, also by one that hears of nothing', async () => {
    const world = createWorld(store)
    const { key, call } = await world.withKey((await world.addUser()).id)
    const otherNode = createKeyLookup({ ...world, store: { ...store, changes: agedChanges(world.clock) } })
    await otherNode.find(key.key)
    await world.keys.revoke(call, key.id)
    expect(await otherNode.find(key.key)).toMatchObject({ keyId: key.id })
    world.clock.advance(1_000)
    expect(await otherNode.find(key.key)).toBeNull()
  })
})

test('when a key was last used is written behind, at most once a minute', async () => {
  const { addUser, session, keys, lookup, lastUsed, clock } = createWorld(store)
  const call = await session((await addUser()).id)
  const key = await keys.create(call, {})
  const readBack = async () => {
    await lastUsed.flush()
    return (await keys.get(call, key.id)).last_used_at
  }
  expect((await keys.get(call, key.id)).last_used_at).toBeNull()
  await lookup.find(key.key)
  expect((await keys.list(call, { limit: 1 })).items[0]!.last_used_at).toBe('2026-01-01T00:00:00.000Z')
  expect(await readBack()).toBe('2026-01-01T00:00:00.000Z')
  clock.advance(59_000)
  await lookup.find(key.key)
  expect(await readBack()).toBe('2026-01-01T00:00:00.000Z')
  clock.advance(2_000)
  await lookup.find(key.key)
  expect(await readBack()).toBe('2026-01-01T00:01:01.000Z')
})

const settle = () => Bun.sleep(0)

test('when a key was last used is written every 15 seconds, at most 500 keys in one transaction', async () => {
  const { clock, keys, addUser, session } = createWorld(store)
  const call = await session((await addUser()).id)
  const { id } = await keys.create(call, {})
  const errors: string[] = []
  let writes = 0
  let away = false
  const counting = {
    ...store,
    write: ((unit) => {
      writes += 1
      if (away) throw new Error('away')
      return store.write(unit)
    }) as typeof store.write,
  }
  const onError = (name: string, error: unknown) => void errors.push(`${name}: ${(error as Error).message}`)
  const uses = createKeyUses({ store: counting, clock })
  const loop = startUsesLoop('keys-last-used', { idleMs: 15_000, uses, clock, onError })
  await settle()
  uses.note(id)
  for (let made = 0; made < 500; made++) uses.note(crypto.randomUUID() as KeyId)
  const noted = new Date(clock.now()).toISOString()
  clock.advance(14_999)
  await settle()
  expect(writes).toBe(0)
  clock.advance(1)
  while ((await keys.get(call, id)).last_used_at === null) await settle()
  while (writes < 2) await settle()
  expect((await keys.get(call, id)).last_used_at).toBe(noted)
  expect(writes).toBe(2)
  away = true
  // A key is noted once a minute.
  while (!clock.wakesWithin(15_000)) await settle()
  clock.advance(60_000)
  while (!clock.wakesWithin(15_000)) await settle()
  uses.note(id)
  clock.advance(15_000)
  while (!errors.length) await settle()
  expect(errors).toEqual(['keys-last-used: away'])
  await loop.stop()
})

const world = createAuthWorld(store)
const { key, call } = await world.withKey((await world.addUser()).id)
const revoked = await world.withKey((await world.addUser()).id)

await world.keys.revoke(revoked.call, revoked.key.id)

const person = await world.join()

/** What a request with these headers gets: its caller, or the refusal. */
const attempt = async (authorization: string | null, cookie: string | null = null) =>
  Promise.try(() => world.authenticate({ authorization, cookie })).catch((error: Error) => error)

describe('a key opens', () => {
  const forms: [string, string][] = [
    ['as Bearer', `Bearer ${key.key}`],
    ['in lower case', `bearer ${key.key}`],
    ['in upper case', `BEARER ${key.key}`],
    ['after two blanks', `Bearer  ${key.key}`],
    ['after a tab', `Bearer\t${key.key}`],
    ['before a blank', `Bearer ${key.key} `],
  ]
  test.each(forms)('%s', async (_form, header) => {
    expect(await attempt(header)).toEqual(call.caller)
  })

  test('before a cookie that would say otherwise', async () => {
    expect(await attempt(`Bearer ${key.key}`, `svc_session=${person.session_token}`)).toEqual(call.caller)
  })
})

describe('a session opens', () => {
  const token = person.session_token
  const forms: [string, string | null, string | null][] = [
    ['as a bearer token', `Bearer ${token}`, null],
    ['as the cookie', null, `svc_session=${token}`],
    ['as the cookie among others', '', `theme=dark; svc_session=${token}; lang=en`],
  ]
  test.each(forms)('%s', async (_form, authorization, cookie) => {
    expect(await attempt(authorization, cookie)).toMatchObject({ type: 'session', userId: person.user.id, orgId: null })
  })
})

describe('an unusable credential is 401', () => {
  const flipped = key.key.slice(0, -1) + (key.key.endsWith('a') ? 'b' : 'a')
  const refusals: { what: string; authorization: string | null; cookie?: string; code?: string; says: string }[] = [
    { what: 'no header', authorization: null, says: 'No API key was sent' },
    { what: 'an empty header', authorization: '', says: 'No API key was sent' },
    { what: 'the scheme alone', authorization: 'Bearer', says: 'not "Bearer"' },
    { what: 'the scheme and a blank', authorization: 'Bearer ', says: 'not "Bearer"' },
    { what: 'another scheme', authorization: `Basic ${btoa('a:b')}`, says: 'not "Bearer"' },
    { what: 'a key without a scheme', authorization: key.key, says: 'not "Bearer"' },
    { what: 'two headers joined', authorization: `Bearer ${key.key}, Bearer ${key.key}`, says: 'more than one value' },
    { what: 'two keys', authorization: `Bearer ${key.key} ${key.key}`, says: 'more than one value' },
    { what: 'a line break', authorization: `Bearer ${key.key}\n`, says: 'line break' },
    { what: 'a line break that was escaped', authorization: `Bearer ${key.key}\\n`, says: 'line break' },
    { what: 'a line break that was encoded', authorization: `Bearer ${key.key}%0A`, says: 'line break' },
    { what: 'a key of another server', authorization: 'Bearer sk-proj-abcdef', says: '"sk-proj-"' },
    { what: 'a short key of another server', authorization: 'Bearer sk-x', says: '"sk-"' },
    { what: 'a widget token', authorization: `Bearer ${mintSecret('svc_wt_').token}`, says: 'another kind of token' },
    { what: 'a key with a flipped character', authorization: `Bearer ${flipped}`, says: 'does not work here' },
    { what: 'a key in upper case', authorization: `Bearer ${key.key.toUpperCase()}`, says: 'not a key of this server' },
    { what: 'a NUL in the key', authorization: `Bearer ${key.key}%00`, says: 'does not work here' },
    { what: 'a path in the key', authorization: `Bearer svc_sk_live_../../etc`, says: 'does not work here' },
    { what: '8 KB of key', authorization: `Bearer svc_sk_live_${'x'.repeat(8_192)}`, says: 'does not work here' },
    {
      what: 'a key in the session cookie',
      authorization: null,
      cookie: `svc_session=${key.key}`,
      code: 'invalid_session',
      says: 'Sign in again',
    },
    { what: 'a key in another cookie', authorization: null, cookie: `api_key=${key.key}`, says: 'No API key' },
    {
      what: 'a session nobody has',
      authorization: `Bearer ${mintSecret('svc_ds_').token}`,
      code: 'invalid_session',
      says: 'Sign in again',
    },
  ]
  test.each(refusals)('$what', async ({ authorization, cookie, code = 'invalid_api_key', says }) => {
    const refusal = await attempt(authorization, cookie ?? null)
    expect(refusal).toMatchObject({ kind: 'unauthenticated', code })
    expect((refusal as Error).message).toContain(says)
    expect((refusal as Error).message).not.toContain(key.key)
  })

  test('in the same words for an unknown, a revoked and a mistyped key (A20)', async () => {
    const expired = await world.withKey((await world.addUser()).id, { expires_at: '2026-01-01T00:00:01Z' })
    world.clock.advance(1_000)
    const keys = [mintSecret('svc_sk_live_').token, revoked.key.key, flipped, expired.key.key]
    const answers = await Promise.all(keys.map((token) => attempt(`Bearer ${token}`)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(new Set(answers.map((answer) => (answer as Error).message)).size).toBe(1)
  })
})
