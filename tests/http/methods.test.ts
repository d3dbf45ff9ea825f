// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { createMethodTable } from '../../src/http/route-rules'
import { routesOf, withId } from '../contract/matrix'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const routes = await routesOf(world)
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Also what a pattern knows of a fixed path beside it: `GET /skills/create` is `GET /skills/{id}`. */
const allowedAt = (path: string): string[] => {
  const shaped = ({ path: pattern }: { path: string }) => new RegExp(`^${pattern.replace(/{\w+}/g, '[^/]+')}$`)
  const known = new Set(
    routes.filter((route) => shaped(route).test(`/${withId(path, 'x')}`)).map(({ method }) => method),
  )
  return [...known, ...(known.has('GET') ? ['HEAD'] : [])].sort()
}
const wrong = [...new Set(routes.map(({ path }) => path))].flatMap((path) =>
  METHODS.filter((method) => !allowedAt(path).includes(method)).map((method) => ({
    name: `${method} ${path}`,
    method,
    path,
  })),
)

test('an unknown route is 404, with what to call instead where clients often call it', async () => {
  expect((await ada.send('POST', 'messages/batches', {})).body.error.message).toBe(
    'No route /api/v1/messages/batches on this server. Send batches to POST /api/v1/batches.',
  )
  expect((await ada.send('POST', 'nothing', {})).body.error.message).toBe('No route /api/v1/nothing on this server.')
})

test.each([
  ['/v1/completions', ' The base address of the API is /api/v1; call /api/v1/completions.'],
  ['/api/models', ' Set the base URL to http://127.0.0.1:3400/v1.'],
  ['/models', ' Set the base URL to http://127.0.0.1:3400/v1.'],
  ['/chat/completions', ' Set the base URL to http://127.0.0.1:3400/v1.'],
  ['/v1/nothing', ' Set the base URL to http://127.0.0.1:3400/v1.'],
  ['/openai/nothing', ' Set the base URL to http://127.0.0.1:3400/v1.'],
  [
    '/v1/chat/completions/chat/completions',
    ' The path names its endpoint twice: the base URL is too long. Set it to http://127.0.0.1:3400/v1.',
  ],
  ['/nothing', ''],
])('%s is 404, with the base address where it was left out', async (path, says) => {
  const reply = await world.app.api.handle(new Request(`http://localhost${path}`))
  expect(reply.status).toBe(404)
  expect(((await reply.json()) as { error: { message: string } }).error.message).toBe(
    `No route ${path} on this server.${says}`,
  )
})

test.each(['//v1/models', '//api/v1/models', '/api/v1/models/'])('%s is one address of it', async (path) => {
  const headers = { authorization: `Bearer ${ada.key}` }
  expect((await world.app.api.handle(new Request(`http://localhost${path}`, { headers }))).status).toBe(200)
})

describe('another method (docs/api.md 1.1)', () => {
  test.each(wrong)('$name is 405 and names those that are known', async ({ method, path }) => {
    const reply = await ada.send(method, withId(path, 'x'), ['GET', 'DELETE'].includes(method) ? undefined : {})
    const { code, details, type } = reply.body.error
    expect({ status: reply.status, code: details?.error_code ?? code, type }).toEqual({
      status: 405,
      code: 'method_not_allowed',
      type: 'invalid_request_error',
    })
    expect(reply.headers.get('allow')).toBe(allowedAt(path).join(', '))
  })

  test.each(['nowhere', 'models/a/b', 'keys/x/y', 'completionsx', 'MODELS'])(
    '%s is 404 with any method',
    async (path) => {
      for (const method of METHODS) {
        const reply = await ada.send(method, path, ['GET', 'DELETE'].includes(method) ? undefined : {})
        expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 404, code: 'not_found' })
      }
    },
  )

  test.each(['models/../keys', 'models/%2e%2e/keys', 'models%2f..%2fkeys'])(
    '%s leads past no scope (C17)',
    async (path) => {
      const { status, text } = await (await world.person({ scopes: ['completions'] })).send('GET', path)
      expect([403, 404]).toContain(status)
      expect(text).not.toContain('svc_sk')
    },
  )
})

describe('the table of methods', () => {
  const methodsOf = createMethodTable({
    routes: [
      { method: 'GET', path: '/a' },
      { method: 'POST', path: '/a' },
      { method: 'DELETE', path: '/a/:id' },
      { method: 'GET', path: '/a.json' },
    ],
  })
  test.each([
    ['/a', ['GET', 'HEAD', 'POST']],
    ['/a/1', ['DELETE']],
    ['/a/1/2', []],
    ['/a/', []],
    ['/aXjson', []],
    ['/a.json', ['GET', 'HEAD']],
  ])('%s knows %j', (path, methods) => {
    expect(methodsOf(path)).toEqual(methods)
  })
})
