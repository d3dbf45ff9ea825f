import { describe, expect, test } from 'bun:test'
import { canonicalUrl } from '../../src/app/server'
import { createWorld } from '../support/world'

const request = (url: string, host: string) => new Request(url, { headers: { host } })

describe('where a request should have gone (docs/api.md 1.1)', () => {
  const canonical = canonicalUrl('https://www.svc.example')

  test.each([
    ['svc.example', 'http://svc.example/api/v1/health?x=1', 'https://www.svc.example/api/v1/health?x=1'],
    ['SVC.EXAMPLE', 'http://svc.example/', 'https://www.svc.example/'],
    ['svc.example', 'http://svc.example', 'https://www.svc.example/'],
  ])('the apex %s is sent on, path and query with it', (host, url, target) => {
    expect(canonical(request(url, host))).toBe(target)
  })

  test.each(['www.svc.example', '10.0.0.5:3400', 'localhost', 'evil.example', 'svc.example.evil.example', ''])(
    'any other host, "%s", is served where it is',
    (host) => {
      expect(canonical(request('http://localhost/api/v1/health', host))).toBeNull()
    },
  )

  test('without a public URL, or with one that is its own apex, nobody is sent anywhere', () => {
    expect(canonicalUrl('')(request('http://svc.example/', 'svc.example'))).toBeNull()
    expect(canonicalUrl('https://svc.example')(request('http://svc.example/', 'svc.example'))).toBeNull()
  })
})

test('a redirect to the canonical host is 307, before any credential is looked at, and tells the caller what to call instead', async () => {
  const world = await createWorld({ config: { publicUrl: 'https://www.svc.example' } })
  const reply = await world.send('POST', 'completions', { prompt: 'hi' }, { host: 'svc.example' })
  expect(reply.status).toBe(307)
  expect(reply.headers.get('location')).toBe('https://www.svc.example/api/v1/completions')
  expect(reply.body.error.message).toContain('https://www.svc.example/api/v1/completions')
  expect(reply.body.error.request_id).toBe(reply.headers.get('x-request-id'))
  expect((await world.send('GET', 'health', undefined, { host: 'www.svc.example' })).status).toBe(200)
})
