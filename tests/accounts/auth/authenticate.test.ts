import { describe, expect, test } from 'bun:test'
import { mintSecret } from '../../../src/accounts'
import { openTestStore } from '../../support/store'
import { createAuthWorld } from './world'

const store = await openTestStore()
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

describe('what opens nothing is 401', () => {
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
