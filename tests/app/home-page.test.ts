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
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!)
  expect(links).toEqual(['/docs', '/openapi.json', '/api/v1/health', '/sign-in'])
  for (const link of links) expect((await open(link)).status).toBe(200)
})

test('the page runs nothing, loads nothing and cannot be framed', async () => {
  const response = await open('/')
  const policy = response.headers.get('content-security-policy')
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await response.text()).not.toMatch(/<script|src=|https?:/)
})

test('the page is no call of the API: other methods and other paths answer as before', async () => {
  expect((await open('/', 'HEAD')).status).toBe(200)
  expect((await open('/', 'POST')).status).toBe(405)
  expect((await open('/index.html')).status).toBe(404)
  const document = (await (await open('/openapi.json')).json()) as { paths: object }
  expect(Object.keys(document.paths)).not.toContain('/')
})
