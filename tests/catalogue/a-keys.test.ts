import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

const target = await startTarget()
const { send } = target
describe('A. the life of a key', () => {
  test('A19 the full key is only in the answer that creates it', async () => {
    const made = await send('POST', 'keys', { body: { name: 'x' } })
    expect(made.status).toBe(201)
    const secret = made.body.key as string
    expect(secret).toMatch(/^svc_sk_live_[0-9A-Za-z]{48}$/)
    const later = await Promise.all([
      send('GET', 'keys'),
      send('GET', `keys/${made.body.id}`),
      send('PUT', `keys/${made.body.id}`, { body: { name: 'y' } }),
      send('GET', 'audit?limit=100'),
      send('DELETE', `keys/${made.body.id}`),
    ])
    for (const { status, text } of later) {
      expect(status).toBe(200)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.slice(-20))
      expect(text).not.toContain(Bun.SHA256.hash(secret, 'hex'))
    }
    expect(later[1]!.body.prefix).toBe(secret.slice(0, 16))
    expect(later[1]!.body).not.toHaveProperty('key')
  })

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

  test('A8 a key past its expiry is refused', async () => {
    const expiry = Date.now() + 3_000
    const soon = new Date(expiry).toISOString()
    const { body } = await send('POST', 'keys', { body: { name: 'brief', expires_at: soon } })
    const late: number[] = []
    await eventually(async () => {
      const requestedAt = Date.now()
      const { status } = await send('GET', 'models', { key: body.key })
      if (status === 200 && requestedAt > expiry) late.push(requestedAt - expiry)
      return status === 401 && requestedAt
    })
    expect(late).toEqual([])
  })

  test('A15 a session ends when it is signed out', async () => {
    const account = { email: 'u1@example.com', password: 'pw-u1@example.com-canary-7f3a' }
    const { body } = await send('POST', 'auth/sessions', { as: null, body: account })
    const mine = { key: body.session_token as string }
    expect((await send('GET', 'auth/me', mine)).status).toBe(200)
    expect((await send('DELETE', 'auth/sessions', mine)).status).toBe(200)
    expect((await send('GET', 'auth/me', mine)).status).toBe(401)
  })
})

keepsItsPromises(target)
