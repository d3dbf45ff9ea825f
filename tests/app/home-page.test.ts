import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const open = (path: string, method = 'GET') => world.app.api.handle(new Request(`http://localhost${path}`, { method }))

test('GET / tells a person what this is, and every address on it leads somewhere', async () => {
  const response = await open('/')
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(text).toContain('an AI orchestration server')
  expect(text).toMatch(/✓ healthy<\/b>, running since \d{4}-\d\d-\d\d \d\d:\d\d UTC, version/)
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!)
  expect(links).toEqual(['/console', '/docs', '/openapi.json', '/api/v1/health'])
  for (const link of links) expect((await open(link)).status).toBe(link === '/console' ? 303 : 200)
  expect(text).toContain('>Sign in</a>')
  const known = new Request('http://localhost/', { headers: { cookie: 'svc_session=svc_ds_x' } })
  expect(await (await world.app.api.handle(known)).text()).toContain('>Open console</a>')
  expect(text).toContain('✓ healthy')
  expect(text).toContain('http://localhost/api/v1/completions')
  expect(text).toContain('svc-admin open console')
  expect(text.length).toBeLessThan(6 * 1024)
})

test('where it is asked to say little, it says what it is and its health', async () => {
  const { app } = await createWorld({ config: { root: 'minimal' } })
  const text = await (await app.api.handle(new Request('http://localhost/'))).text()
  expect([...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)).toEqual(['/api/v1/health'])
  expect(text).not.toContain('curl')
})

test('the page runs nothing, loads nothing and cannot be framed', async () => {
  const response = await open('/')
  const policy = response.headers.get('content-security-policy')
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await response.text()).not.toMatch(/<script|src=|href="https?:/)
})

test('the page is no call of the API: other methods and other paths answer as before', async () => {
  expect((await open('/', 'HEAD')).status).toBe(200)
  expect((await open('/', 'POST')).status).toBe(405)
  expect((await open('/index.html')).status).toBe(404)
  expect(Object.keys(((await (await open('/openapi.json')).json()) as { paths: object }).paths)).not.toContain('/')
})

test('a browser at an address without anything gets a page, programs and calls of the API get JSON', async () => {
  const at = async (path: string, accept: string, method = 'GET') => {
    const response = await world.app.api.handle(new Request(`http://localhost${path}`, { method, headers: { accept } }))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const path of ['/nonexistent', '/operator/nope', '/docs/nope', '/docs/errors/nope']) {
    const { status, headers, text } = await at(path, browser)
    expect({ path, status, contentType: headers.get('content-type') }).toEqual({
      path,
      status: 404,
      contentType: 'text/html; charset=utf-8',
    })
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-request-id')).toStartWith('req')
    expect(text).toContain('<h1>There is nothing here</h1>')
    expect(text).toContain(headers.get('x-request-id')!)
    expect(JSON.parse((await at(path, '*/*')).text).error.code).toBe('not_found')
  }
  expect(JSON.parse((await at('/api/v1/nope', browser)).text).error.code).toBe('invalid_api_key')
  expect(JSON.parse((await at('/nonexistent', browser, 'POST')).text).error.code).toBe('not_found')
})
