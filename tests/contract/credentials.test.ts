// Both databases: every route is asked, and each has statements.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { routesOf, withId } from './matrix'

const world = await createWorld()
const routes = await routesOf(world)

/** All that may be called without a credential (docs/api.md 1.2). */
const GOLDEN = [
  'GET /health',
  'HEAD /health',
  'POST /auth/signup',
  'POST /auth/sessions',
  'POST /auth/links',
  'POST /auth/links/redeem',
  'POST /billing/webhook',
]
/**
 * Of visitors, who have the token of a widget's chat and its origin instead (docs/api.md 15.3):
 * tests/widgets/visitor-auth.test.ts.
 */
const OF_VISITORS = [
  'GET /iframes/{id}/public',
  'POST /iframes/{id}/sessions',
  'GET /iframes/{id}/sessions/{sessionId}',
  'POST /iframes/{id}/sessions/{sessionId}/messages',
  'GET /iframes/{id}/sessions/{sessionId}/events',
  'POST /iframes/{id}/sessions/{sessionId}/request-human',
  'POST /iframes/{id}/sessions/{sessionId}/typing',
  'POST /iframes/{id}/sessions/{sessionId}/identify',
  'POST /iframes/{id}/sessions/{sessionId}/feedback',
]
const revoked = await world.person()
await revoked.send('DELETE', `keys/${revoked.keyId}`)
const isOfVisitors = (name: string) => OF_VISITORS.includes(name.replace(/^HEAD/, 'GET'))
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const paths = [...new Set(routes.map(({ path }) => path))]
const cells = paths.flatMap((path) => METHODS.map((method) => ({ name: `${method} ${path}`, method, path })))

describe('without a credential (A16)', () => {
  test('the document calls open what the golden list calls open', () => {
    const open = routes.filter(({ isOpen }) => isOpen).map(({ name }) => name)
    expect([...open, 'HEAD /health'].sort()).toEqual([...GOLDEN, ...OF_VISITORS].sort())
  })

  test.each(cells.filter(({ name }) => !GOLDEN.includes(name) && !isOfVisitors(name)))(
    '$name is 401 without a key and with a revoked one (A8)',
    async ({ method, path }) => {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? '{"broken":' : undefined
      for (const { send } of [world, revoked]) {
        const reply = await send(method, withId(path, 'none'), body)
        expect(reply.status).toBe(401)
        expect(reply.headers.get('www-authenticate')).toBe('Bearer')
        const { type, code, details } = reply.body?.error ?? {}
        if (method !== 'HEAD')
          expect({ type, code: details?.error_code ?? code }).toEqual({
            type: 'authentication_error',
            code: 'invalid_api_key',
          })
      }
    },
  )

  test.each(GOLDEN)('%s is not', async (name) => {
    const [method, path] = name.split(' ') as [string, string]
    expect((await world.send(method, withId(path, ''), method === 'POST' ? {} : undefined)).status).not.toBe(401)
  })

  test.each(['api_key', 'access_token', 'token', 'key'])(
    'a key as ?%s= is not a credential, and not logged (A7)',
    async (name) => {
      const { key } = await world.person()
      expect((await world.send('GET', `models?${name}=${key}`)).status).toBe(401)
      expect(world.logged.join('')).not.toContain(key.slice('svc_sk_live_'.length))
    },
  )
})
