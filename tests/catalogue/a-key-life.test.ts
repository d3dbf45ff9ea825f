import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/*
 * A: keys from their rotation to their end, and the pages that may use them. That a secret is in one answer only
 * (docs/attacks.md A19) and that a signed-out session is over (docs/attacks.md A15) are in tests/accounts.
 */

const target = await startTarget()
const { send } = target

const PAGE = 'https://app.example'
describe('A. the order of refusals (docs/api.md 1.5)', () => {
  const strange = { headers: { origin: 'https://evil.example' } }

  test('the credential before the origin', async () => {
    expect((await send('GET', 'models', { as: 'kx', ...strange })).status).toBe(401)
  })

  test('the origin before the rate, and it is not counted', async () => {
    const made = (await send('POST', 'keys', { body: { allowed_origins: [PAGE], rpm_limit: 2 } })).body
    for (let n = 0; n < 5; n++) {
      expect((await send('GET', 'models', { key: made.key, ...strange })).body.error.code).toBe('origin_not_allowed')
    }
    expect((await send('GET', 'models', { key: made.key })).headers.get('x-ratelimit-remaining-requests')).toBe('1')
  })

  test('the origin before the scope and the body', async () => {
    const made = (await send('POST', 'keys', { body: { allowed_origins: [PAGE], scopes: ['tools'] } })).body
    const { status, body } = await send('POST', 'completions', { key: made.key, ...strange, body: '{broken' })
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'origin_not_allowed' })
    expect((await send('POST', 'completions', { key: made.key, body: '{broken' })).body.error.code).toBe(
      'missing_scope',
    )
  })

  test('the rate before the scope', async () => {
    const made = (await send('POST', 'keys', { body: { scopes: ['tools'], rpm_limit: 1 } })).body
    expect((await send('GET', 'keys', { key: made.key })).body.error.code).toBe('missing_scope')
    expect((await send('GET', 'keys', { key: made.key })).status).toBe(429)
  })
})

describe('A. the end of a key', () => {
  test('A8 with 16 concurrent users of a key, none is accepted after its revocation was acknowledged', async () => {
    const { body } = await send('POST', 'keys', { body: { name: 'raced' } })
    let revoked = false
    let late = 0
    let served = 0
    const readers = Array.from({ length: 16 }, async () => {
      for (let turn = 0; turn < 12; turn++) {
        const after = revoked
        const { status } = await send('GET', 'rate-limits', { key: body.key })
        served += 1
        if (after && status !== 401) late += 1
      }
    })
    await eventually(() => served > 0)
    await send('DELETE', `keys/${body.id}`)
    revoked = true
    await Promise.all(readers)
    expect(late).toBe(0)
  })

  test('A20 a rotated secret gets the same refusal as an unknown one', async () => {
    const made = (await send('POST', 'keys', { body: {} })).body
    await send('POST', `keys/${made.id}/rotate`, { body: { grace_period_seconds: 0 } })
    const words = ({ status, text, body }: Awaited<ReturnType<typeof send>>) =>
      [status, text.replaceAll(body.error.request_id, 'req')].join()
    expect(words(await send('GET', 'models', { key: made.key }))).toBe(words(await send('GET', 'models', { as: 'kx' })))
  })

  test('twenty at once leave one key with secrets that all work until their end', async () => {
    const made = (await send('POST', 'keys', { body: { name: 'raced' } })).body
    const turned = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', `keys/${made.id}/rotate`, { body: {} })),
    )
    expect(turned.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const secrets = [made.key, ...turned.map(({ body }) => body.key as string)]
    expect(new Set(secrets).size).toBe(21)
    const statuses = await Promise.all(secrets.map(async (key) => (await send('GET', 'models', { key })).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await send('POST', `keys/${made.id}/rotate`, { body: { grace_period_seconds: 0 } })).status).toBe(200)
    const after = await Promise.all(secrets.map(async (key) => (await send('GET', 'models', { key })).status))
    expect(new Set(after)).toEqual(new Set([401]))
  })
})

keepsItsPromises(target)
