import { describe, expect, test } from 'bun:test'
import { type Refusal, refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'

const world = await createWorld()

describe('/keys', () => {
  test('goes from a key made to a key revoked', async () => {
    const ada = await world.person()
    const made = await ada.send('POST', 'keys', { name: 'ci', rpm_limit: 30 })
    expect(made.status).toBe(201)
    const { key, request_id, ...shown } = made.body
    expect(request_id).toBe(made.headers.get('x-request-id'))
    expect(shown).toMatchObject({ object: 'api_key', name: 'ci', scope: 'personal', tier: 'free', rpm_limit: 30 })

    const read = await ada.send('GET', `keys/${shown.id}`)
    expect(read.body).toEqual({ ...shown, request_id: read.body.request_id })
    const listed = await ada.send('GET', 'keys?limit=1')
    expect(listed.body).toMatchObject({ keys: [{ id: shown.id }], has_more: true })
    const rest = await ada.send('GET', `keys?limit=1&cursor=${listed.body.next_cursor}`)
    expect(rest.body).toMatchObject({ keys: [{ id: ada.keyId }], has_more: false, next_cursor: null })

    for (const method of ['PUT', 'PATCH']) {
      const changed = await ada.send(method, `keys/${shown.id}`, {
        name: method,
        allowed_origins: ['https://a.example'],
      })
      expect(changed.status).toBe(200)
      expect(changed.body.name).toEqual(method)
      expect(changed.body.allowed_origins).toEqual(['https://a.example'])
    }

    const bearer = { authorization: `Bearer ${key}` }
    expect((await world.send('GET', 'auth/me', undefined, bearer)).status).toBe(200)
    const gone = await ada.send('DELETE', `keys/${shown.id}`)
    expect(gone.body).toEqual({ revoked: true, id: shown.id, request_id: gone.body.request_id })
    expect((await world.send('GET', 'auth/me', undefined, bearer)).status).toBe(401)
  })

  test('keeps pages of other origins out of a key that names some', async () => {
    const { key } = (await (await world.person()).send('POST', 'keys', { allowed_origins: ['https://a.example'] })).body
    const from = (origin: string) => world.send('GET', 'auth/me', undefined, { authorization: `Bearer ${key}`, origin })
    expect((await from('https://a.example')).headers.get('access-control-allow-origin')).toBe('https://a.example')
    const refused = await from('https://b.example')
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'origin_not_allowed' } } })
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
  })
})

const none = crypto.randomUUID()
refusals('POST /keys refuses', { world, as: await world.person(), request: 'POST keys' }, [
  ['a body that is no object', '[]', ''],
  ['a name that is too long', { name: 'x'.repeat(129) }, '"name" '],
  ['an empty name', { name: '' }, '"name" '],
  ['a name that is a number', { name: 5 }, '"name" is 5'],
  ['a scope nobody knows', { scopes: ['root'] }, '"scopes[0]" is "root"'],
  ['a limit in words', { rpm_limit: '5' }, '"rpm_limit" is "5"'],
  ['a limit of nothing', { rpm_limit: 0 }, '"rpm_limit" is 0'],
  ['a limit above the tier', { rpm_limit: 61 }, '"rpm_limit" is 61; tier free allows 60'],
  ['tokens above the tier', { tpm_limit: 100_001 }, '"tpm_limit" is 100001'],
  ['half a cent', { daily_cap_cents: 0.5 }, '"daily_cap_cents" is 0.5'],
  ['a day that is none', { expires_at: 'tomorrow' }, '"expires_at" is "tomorrow"'],
  [
    'a day without its time',
    { expires_at: '2030-01-01' },
    'it must be a time with its zone, such as 2026-01-31T12:00:00Z.',
  ],
  ['an end that is over', { expires_at: '2025-12-31T23:59:59Z' }, 'not in the future'],
  ['an origin with a path', { allowed_origins: ['https://app.example/x'] }, '"allowed_origins[0]" '],
  ['a star for an origin', { allowed_origins: ['*'] }, '"allowed_origins[0]" is "*"'],
  ['an origin with a password', { allowed_origins: ['https://a:b@app.example'] }, '"allowed_origins[0]" '],
  ['an origin that is no web page', { allowed_origins: ['file:///a'] }, 'scheme and a host'],
  ['an org without one active', { scope: 'org' }, 'POST /orgs/{id}/activate', { code: 'org_required' }],
  ['an org for a personal key', { scope: 'personal', org_id: none }, '"org_id"'],
  ['an org nobody knows', { org_id: none }, 'No organization', { status: 404, code: 'not_found' }],
  ['an org id that is none', { org_id: '../etc' }, 'No organization', { status: 404, code: 'not_found' }],
])

const narrow = await world.person({ scopes: ['billing'] })
refusals(
  'a key that may only bill cannot give (A22)',
  { world, as: narrow, request: 'POST keys', status: 403, code: 'missing_scope' },
  [
    ['a scope it has not', { scopes: ['billing', 'connectors'] }, 'not connectors'],
    ['every scope', {}, ''],
    ['itself such a scope', { scopes: ['billing', 'completions'] }, '', { request: `PUT keys/${narrow.keyId}` }],
  ],
)

const unchanged = async () => expect((await narrow.send('GET', `keys/${narrow.keyId}`)).body.name).toBe('test')
refusals(
  'PUT /keys/{id} refuses, and changes nothing',
  { world, as: narrow, request: `PUT keys/${narrow.keyId}`, body: { name: 'changed' }, also: unchanged },
  [
    ['a limit above the tier', { rpm_limit: 100_000_000 }, '"rpm_limit" is 100000000'],
    ['a scope the caller lacks', { scopes: ['billing', 'connectors'] }, '', { status: 403, code: 'missing_scope' }],
    ['an end that is over', { expires_at: '2020-01-01T00:00:00Z' }, 'not in the future'],
    ['an origin that is none', { allowed_origins: ['app.example'] }, '"allowed_origins[0]" '],
  ],
)

const rotating = await world.person()
refusals(
  'POST /keys/{id}/rotate refuses (A19)',
  { world, as: rotating, request: `POST keys/${rotating.keyId}/rotate` },
  [
    ...[-1, 604_801, 0.5, '60'].map(
      (grace_period_seconds): Refusal => [
        `a grace of ${JSON.stringify(grace_period_seconds)} seconds`,
        { grace_period_seconds },
        '"grace_period_seconds" is ',
      ],
    ),
    ['a body that is a list', '[]', ''],
  ],
)
