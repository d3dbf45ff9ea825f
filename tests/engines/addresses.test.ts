import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { candidatesOf } from '../../src/engines/addresses'
import { operatorSender } from '../operators/support'
import { eventually } from '../support/eventually'
import { serveLocally } from '../support/listening'
import { createWorld } from '../support/world'

setDefaultTimeout(60_000)

/**
 * Under `/strict` an API with `/v1` and nothing else, under `/silent` one that lists no models, under `/beside` one
 * that lists them elsewhere than it chats, under `/hang` no answer.
 */
const server = serveLocally(async (request) => {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/hang/')) return new Promise<Response>(() => undefined)
  if (pathname === '/strict/v1/models') return Response.json({ data: [{ id: 'mock-1' }] })
  if (/^\/(strict|silent)\/v1\/chat\/completions$/.test(pathname) && request.method === 'POST') {
    const message = { role: 'assistant', content: '{"ok": true}' }
    return Response.json({ choices: [{ index: 0, finish_reason: 'stop', message }] })
  }
  if (pathname === '/beside/v1/models') return Response.json({ data: [{ id: 'mock-1' }] })
  if (pathname === '/beside/chat/completions') return new Response('POST only', { status: 405 })
  if (pathname.startsWith('/pages/'))
    return new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })
  return new Response('no such route', { status: 404 })
})
const here = (path: string): string => `http://127.0.0.1:${server.port}${path}`

const worldWith = (baseUrl: string) => {
  const engines = { upstreams: { hall: { kind: 'compat', baseUrl } }, models: { '*': ['hall:mock-1'] } }
  return createWorld({ config: { engines } as never })
}
const rightAddress = new RegExp(`${here('/strict/v1').replaceAll('.', '\\.')}(?!/)`)

describe('an address that does not fit', () => {
  test.each(
    `
    /strict /strict/ /strict/v1/chat/completions /strict/v1/chat/completions/ /strict/v1/models /strict/chat/completions
    /strict/api
  `
      .trim()
      .split(/\s+/),
  )('%s: the start, the list and the trial say which would work', async (path) => {
    const world = await worldWith(here(path))
    const { engines } = world.app.container
    const [state] = (await engines.askUpstreams(1_000)).filter(({ upstream }) => upstream === 'hall')
    expect(state).toMatchObject({ up: false })
    expect(state!.problem).toMatch(rightAddress)
    const { body } = await operatorSender(world)('GET', 'engines')
    expect(body.engines.find(({ mode }: { mode: string }) => mode === 'fast')).toMatchObject({
      state: 'unreachable',
      problem: state!.problem,
    })
  })

  test('engines add saves none and says which would work', async () => {
    const send = operatorSender(await createWorld())
    const engine = { name: 'hall', kind: 'compat', models: ['mock-1'] }
    const wrong = await send('POST', 'engines', { ...engine, base_url: here('/strict'), test: true })
    expect(wrong.body).toMatchObject({ saved_to: null })
    expect(wrong.body.tests[0].checks[0].detail).toMatch(rightAddress)
  })

  test.each(['/strict/v1', '/strict/v1/', '/silent/v1', '/pages', '/beside'])('%s fits', async (path) => {
    const states = await (await worldWith(here(path))).app.container.engines.askUpstreams()
    expect(states.find(({ upstream }) => upstream === 'hall')).toMatchObject({ up: true, problem: null })
  })

  test('of a page that is no API nothing is guessed, and none leaves its server', () => {
    for (const base of [
      'http://h:1/a/v1/chat/completions?x=1',
      'http://u:p@h:1/api',
      'http://h:1',
      'https://h/v1beta',
    ]) {
      for (const one of candidatesOf(base)) expect(new URL(one).host).toBe(new URL(base).host)
    }
    expect(candidatesOf('http://h:1/v1')).toEqual([])
    expect(candidatesOf('http://h:1/v1/chat/completions')).toEqual(['http://h:1/v1'])
    expect(candidatesOf('no address')).toEqual([])
  })
})

test('GET /health waits for no upstream that hangs, and tells of it once that is known', async () => {
  const ada = await (await worldWith(here('/hang/v1'))).person()
  const began = performance.now()
  const { status, body } = await ada.send('GET', 'health')
  expect(performance.now() - began).toBeLessThan(2_000)
  expect(status).toBe(200)
  expect(body.providers['svc-core'].status).toBe('degraded')
  const now = async () => (await ada.send('GET', 'health')).body.providers['svc-core'].status
  await eventually(now, (message) => message === 'down')
})
