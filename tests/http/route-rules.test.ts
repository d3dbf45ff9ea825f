// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { createRouteRules, type Route } from '../../src/http/route-rules'
import { createWorld } from '../support/world'

const world = await createWorld()
const routes = world.app.api.routes as unknown as Route[]
const rules = createRouteRules()
rules.learn(routes)
const declaring = (pick: (rule: NonNullable<ReturnType<typeof rules.of>>) => boolean) =>
  routes
    .filter(({ method, path }) => pick(rules.of(method, path)!))
    .map(({ method, path }) => `${method} ${path}`)
    .sort()

describe('the routes declare', () => {
  test('who needs no credential (docs/api.md 1.2), and which of them pages of every origin may read', () => {
    const open = declaring(({ open }) => open)
    expect(open).toEqual([
      'DELETE /ops/v1/*',
      'GET /',
      'GET /api/v1/health',
      'GET /api/v1/iframes/:id/public',
      'GET /api/v1/iframes/:id/sessions/:sessionId',
      'GET /api/v1/iframes/:id/sessions/:sessionId/events',
      'GET /assets/:name',
      'GET /billing/checkout/:id',
      'GET /billing/portal/:token',
      'GET /console',
      'GET /console/*',
      'GET /console/assets/:name',
      'GET /console/inbox/events',
      'GET /console/invitation',
      'GET /console/sign-in',
      'GET /docs',
      'GET /docs.md',
      'GET /docs/:page',
      'GET /docs/console',
      'GET /docs/errors/:code',
      'GET /docs/llms.txt',
      'GET /docs/playground',
      'GET /docs/scalar.js',
      'GET /docs/scalar.json',
      'GET /embed.js',
      'GET /embed/browser/:id',
      'GET /embed/browser/:id/live',
      'GET /embed/browser/:id/recording',
      'GET /embed/widget/:id',
      'GET /favicon.ico',
      'GET /files/:id',
      'GET /home',
      'GET /home/password',
      'GET /llms.txt',
      'GET /openapi.json',
      'GET /operator',
      'GET /ops/v1/*',
      'GET /sign-in',
      'GET /sign-in/link',
      'GET /sign-up',
      'PATCH /ops/v1/*',
      'POST /api/v1/auth/links',
      'POST /api/v1/auth/links/redeem',
      'POST /api/v1/auth/sessions',
      'POST /api/v1/auth/signup',
      'POST /api/v1/billing/webhook',
      'POST /api/v1/iframes/:id/sessions',
      'POST /api/v1/iframes/:id/sessions/:sessionId/feedback',
      'POST /api/v1/iframes/:id/sessions/:sessionId/identify',
      'POST /api/v1/iframes/:id/sessions/:sessionId/messages',
      'POST /api/v1/iframes/:id/sessions/:sessionId/request-human',
      'POST /api/v1/iframes/:id/sessions/:sessionId/typing',
      'POST /billing/checkout/:id',
      'POST /console/invitation',
      'POST /ops/v1/*',
      'POST /sign-in',
      'POST /sign-in/link',
      'POST /sign-in/mail',
      'POST /sign-out',
      'POST /sign-up',
      'PUT /ops/v1/*',
      'WS /embed/browser/:id/stream',
    ])
    expect(declaring(({ open, readers }) => open && readers === 'anyone')).toEqual([
      'GET /api/v1/health',
      'GET /embed/browser/:id/live',
      'GET /files/:id',
      'GET /openapi.json',
    ])
  })

  test('which bodies are not JSON, or are read as bytes', () => {
    expect(declaring(({ body }) => body === 'form')).toEqual([
      'POST /billing/checkout/:id',
      'POST /console/invitation',
      'POST /sign-in',
      'POST /sign-in/link',
      'POST /sign-in/mail',
      'POST /sign-out',
      'POST /sign-up',
    ])
    expect(declaring(({ body }) => body === 'raw')).toEqual([
      'DELETE /ops/v1/*',
      'PATCH /ops/v1/*',
      'POST /api/v1/billing/webhook',
      'POST /ops/v1/*',
      'PUT /ops/v1/*',
    ])
    expect(declaring(({ body }) => body === 'ignored')).toEqual([
      'POST /api/v1/batches/:id/cancel',
      'POST /api/v1/iframes/:id/conversations/:sessionId/release',
    ])
  })

  test('which have a time limit of their own (docs/api.md 1.9)', () => {
    expect(declaring(({ timeLimit }) => !timeLimit)).toEqual([
      'DELETE /ops/v1/*',
      'GET /api/v1/audit/export',
      'GET /api/v1/billing/ledger/export',
      'GET /api/v1/iframes/:id/sessions/:sessionId/events',
      'GET /api/v1/live',
      'GET /api/v1/usage/export',
      'GET /console/inbox/events',
      'GET /ops/v1/*',
      'PATCH /ops/v1/*',
      'POST /api/v1/audio/speech',
      'POST /api/v1/audio/stt',
      'POST /api/v1/audio/transcriptions',
      'POST /api/v1/audio/translations',
      'POST /api/v1/audio/tts',
      'POST /api/v1/batches',
      'POST /api/v1/browser/sessions',
      'POST /api/v1/browser/sessions/:id/actions',
      'POST /api/v1/chat/completions',
      'POST /api/v1/code',
      'POST /api/v1/completions',
      'POST /api/v1/documents',
      'POST /api/v1/embeddings',
      'POST /api/v1/files',
      'POST /api/v1/iframes/:id/conversations/:sessionId/draft',
      'POST /api/v1/iframes/:id/sessions/:sessionId/messages',
      'POST /api/v1/images',
      'POST /api/v1/images/edits',
      'POST /api/v1/images/generations',
      'POST /api/v1/messages',
      'POST /api/v1/requests/:id/replay',
      'POST /api/v1/responses',
      'POST /api/v1/voice/action',
      'POST /mcp',
      'POST /ops/v1/*',
      'PUT /ops/v1/*',
    ])
  })

  test('which paths hold a secret, which no log line shows', () => {
    expect(rules.shown('/billing/portal/x')).toBe('/billing/portal/…')
    expect(rules.shown('/billing/checkout/x')).toBe('/billing/checkout/x')
  })

  test('all that the edge knows of them: it names no address but where the two APIs are mounted', async () => {
    const files = await Array.fromAsync(new Bun.Glob('src/http/*.ts').scan('.'))
    const addresses = (await Promise.all(files.map((file) => Bun.file(file).text()))).flatMap((code) => [
      ...withoutComments(code).matchAll(/(?<=['"`])\/\w[^'"`]*|(?<=[\^(|/])\\\/\w+/g),
    ])
    const found = new Set(addresses.map(([address]) => address).filter((address) => !/^\/(dev|proc)\b/.test(address)))
    expect(files.length).toBeGreaterThan(10)
    expect([...found].sort()).toEqual(['/api/v1', '/ops/v1'])
  })

  test('nothing of it in the document', async () => {
    expect((await world.send('GET', '/openapi.json')).text).not.toContain('"edge"')
  })
})

describe('the rule for a request', () => {
  test.each([
    ['GET', '/api/v1/health', true],
    ['HEAD', '/api/v1/health', true],
    ['POST', '/api/v1/health', false],
    ['GET', '/api/v1/health/', false],
    ['GET', '/api/v1/nothing', false],
    ['GET', '/api/v1/keys/x', false],
    ['OPTIONS', '/api/v1/auth/signup', false],
    ['GET', '/sign-in/link', true],
    ['GET', '/nothing', true],
    ['GET', '/api/v1', true],
  ])('%s %s is open: %p', (method, path, open) => {
    expect(rules.at(method, path).open).toBe(open)
  })

  test('is that of the route it is sent to', () => {
    for (const { method, path } of routes) {
      expect(rules.at(method, path.replace(/:\w+/g, 'x'))).toBe(rules.of(method, path)!)
    }
  })

  test('does not exist for a route that does not say who may call it: the server does not start', () => {
    const silent = [{ method: 'GET', path: '/it', hooks: {} }]
    expect(() => createRouteRules().learn(silent)).toThrow('GET /it does not say who may call it')
  })
})

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}
