// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { canonicalUrl } from '../../src/app/server'
import { createWorld } from '../support/world'

const world = await createWorld({ config: { publicUrl: 'https://www.svc.example' } })
const ada = await world.person()

describe('the canonical host (docs/api.md 1.1)', () => {
  test.each([
    ['models?limit=5', 'GET', 'https://www.svc.example/api/v1/models?limit=5'],
    ['completions', 'POST', 'https://www.svc.example/api/v1/completions'],
    ['/openapi.json', 'GET', 'https://www.svc.example/openapi.json'],
    ['health', 'GET', 'https://www.svc.example/api/v1/health'],
  ])('the apex sends %s there with 307', async (path, method, location) => {
    const reply = await ada.send(method, path, method === 'POST' ? { prompt: 'hi' } : undefined, {
      host: 'svc.example',
    })
    expect(reply.status).toBe(307)
    expect(reply.headers.get('location')).toBe(location)
    expect(reply.body.error.message).toContain('drop the Authorization header')
    expect(reply.body.error.request_id).toBe(reply.headers.get('x-request-id'))
  })

  test.each(['www.svc.example', '127.0.0.1:3400', 'localhost'])('%s is served where it is', async (host) => {
    expect((await ada.send('GET', 'models', undefined, { host })).status).toBe(200)
  })

  test('is told to browsers for good, being https', async () => {
    expect((await world.send('GET', 'health')).headers.get('strict-transport-security')).toContain('max-age=31536000')
  })

  test.each(['', 'https://svc.example', 'http://127.0.0.1:3400'])('a public address of %j has no apex', (publicUrl) => {
    const request = new Request('http://svc.example/x', { headers: { host: 'svc.example' } })
    expect(canonicalUrl(publicUrl)(request)).toBeNull()
  })
})
