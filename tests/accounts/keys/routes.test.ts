import { describe, expect, test } from 'bun:test'
import { createWorld, type Reply } from '../../support/world'

const world = await createWorld()

/** What an answer says besides its request id. */
const words = ({ status, text, body }: Reply) => {
  const id = body?.request_id ?? body?.error?.request_id
  return { status, text: text.replaceAll(id, 'req') }
}

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
    const ada = await world.person()
    const { key } = (await ada.send('POST', 'keys', { allowed_origins: ['https://a.example'] })).body
    const from = (origin: string) => world.send('GET', 'auth/me', undefined, { authorization: `Bearer ${key}`, origin })
    expect((await from('https://a.example')).headers.get('access-control-allow-origin')).toBe('https://a.example')
    const refused = await from('https://b.example')
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'origin_not_allowed' } } })
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('what /keys refuses', () => {
  const bodies: { why: string; body: unknown; status: number; code: string; param?: string }[] = [
    { why: 'a body that is no object', body: '[]', status: 400, code: 'validation_error' },
    {
      why: 'a name that is too long',
      body: { name: 'x'.repeat(129) },
      status: 400,
      code: 'validation_error',
      param: 'name',
    },
    { why: 'an empty name', body: { name: '' }, status: 400, code: 'validation_error', param: 'name' },
    { why: 'a name that is a number', body: { name: 5 }, status: 400, code: 'validation_error', param: 'name' },
    {
      why: 'a scope nobody knows',
      body: { scopes: ['root'] },
      status: 400,
      code: 'validation_error',
      param: 'scopes[0]',
    },
    { why: 'a limit in words', body: { rpm_limit: '5' }, status: 400, code: 'validation_error', param: 'rpm_limit' },
    { why: 'a limit of nothing', body: { rpm_limit: 0 }, status: 400, code: 'validation_error', param: 'rpm_limit' },
    {
      why: 'half a cent',
      body: { daily_cap_cents: 0.5 },
      status: 400,
      code: 'validation_error',
      param: 'daily_cap_cents',
    },
    {
      why: 'a limit above the tier',
      body: { rpm_limit: 61 },
      status: 400,
      code: 'validation_error',
      param: 'rpm_limit',
    },
    {
      why: 'a day that is none',
      body: { expires_at: 'tomorrow' },
      status: 400,
      code: 'validation_error',
      param: 'expires_at',
    },
    {
      why: 'an origin that is none',
      body: { allowed_origins: ['*'] },
      status: 400,
      code: 'validation_error',
      param: 'allowed_origins[0]',
    },
    { why: 'an org without one active', body: { scope: 'org' }, status: 400, code: 'org_required' },
    { why: 'a foreign org', body: { org_id: crypto.randomUUID() }, status: 404, code: 'not_found' },
  ]
  test.each(bodies)('$why', async ({ body, status, code, param }) => {
    const ada = await world.person()
    const refused = await ada.send('POST', 'keys', body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status, code })
    if (param) expect(refused.body.error.param).toBe(param)
    expect((await ada.send('GET', 'keys')).body.keys).toHaveLength(1)
  })

  const calls: [string, string, unknown][] = [
    ['POST', 'keys', { name: 5 }],
    ['GET', 'keys', undefined],
    ['GET', 'keys/x', undefined],
    ['PUT', 'keys/x', { name: 5 }],
    ['PATCH', 'keys/x', 'not json'],
    ['DELETE', 'keys/x', undefined],
  ]
  test.each(calls)('%s %s without the scope, before it looks at anything else (D17)', async (method, path, body) => {
    const limited = await world.person({ scopes: ['completions'] })
    const refused = await limited.send(method, path, body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
  })

  test.each(calls)('%s %s without a key, with the header that says how', async (method, path, body) => {
    const refused = await world.send(method, path, body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 401, code: 'invalid_api_key' })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('scopes the caller lacks (A22)', async () => {
    const limited = await world.person({ scopes: ['billing'] })
    const refused = await limited.send('POST', 'keys', { name: 'a', scopes: ['billing', 'connectors'] })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
  })
})

describe("someone else's key (I22)", () => {
  const verbs: [string, unknown][] = [
    ['GET', undefined],
    ['PUT', { name: 'mine' }],
    ['PATCH', { name: 'mine' }],
    ['DELETE', undefined],
  ]
  test.each(verbs)('answers %s like an id nobody has and like none at all', async (method, body) => {
    const [ada, eve] = [await world.person(), await world.person()]
    const answers = await Promise.all(
      [ada.keyId, crypto.randomUUID(), 'x', '..%2f..', 'a%00b'].map((id) => eve.send(method, `keys/${id}`, body)),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(words(answer)))).size).toBe(1)
    expect(words(answers[0]!)).toMatchObject({ status: 404, text: expect.stringContaining('not_found') })
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body).toMatchObject({ name: 'test', status: 'active' })
  })
})
