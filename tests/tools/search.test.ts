import { beforeEach, describe, expect, test } from 'bun:test'
import { createOutbound } from '../../src/kernel/outbound'
import { createWeb } from '../../src/research'
import { createSystemTools } from '../../src/tools'
import { serveLocally } from '../support/listening'
import { contextOf, openTools, requestOf, wanted } from './world'

/**
 * What each kind of server answers: written after their documented formats, not taken from live ones, with a hit that
 * is none.
 */
const RECORDED: Record<string, object> = {
  searxng: {
    query: 'tides',
    number_of_results: 2,
    results: [
      { url: 'https://example.com/a', title: 'A &amp; B', content: 'first', engine: 'x', score: 1.5 },
      { url: 'javascript:alert(1)', title: 'bad', content: 'x' },
      { url: 'https://example.com/b', title: 'C', content: 'second' },
    ],
    answers: [],
  },
  brave: {
    type: 'search',
    web: {
      type: 'search',
      results: [
        { title: 'A &amp; B', url: 'https://example.com/a', description: '<strong>first</strong>' },
        { title: '', url: 'https://example.com/x', description: 'x' },
        { title: 'C', url: 'https://example.com/b', description: 'second' },
      ],
    },
  },
  tavily: {
    query: 'tides',
    answer: null,
    results: [
      { title: 'A &amp; B', url: 'https://example.com/a', content: 'first', score: 0.9 },
      null,
      { title: 'C', url: 'https://example.com/b', content: 'second', score: 0.8 },
    ],
  },
}

type Seen = { method: string; path: string; query: Record<string, string>; headers: Headers; body: string }
let seen: Seen[] = []
let reply: () => Response = () => Response.json({})
const server = serveLocally(async (request) => {
  const { pathname, searchParams } = new URL(request.url)
  const { method, headers } = request
  seen.push({ method, path: pathname, query: Object.fromEntries(searchParams), headers, body: await request.text() })
  return reply()
})
beforeEach(() => {
  seen = []
})

type Driver = 'none' | 'searxng' | 'brave' | 'tavily'
const settings = (searchDriver: Driver, searchBaseUrl = `http://127.0.0.1:${server.port}/`, searchApiKey = 'k1') => ({
  searchDriver,
  searchBaseUrl,
  searchApiKey,
})
const outbound = createOutbound()
const unused = () => Promise.reject(new Error('not used here'))
const UNUSED = { layOut: unused, create: unused, answer: unused }
const searching = (given: ReturnType<typeof settings>) => {
  const web = createWeb({ outbound, settings: given })
  const tools = openTools({
    system: createSystemTools({
      ...{ web, documents: UNUSED, images: UNUSED, code: UNUSED, research: UNUSED },
      video: { start: unused },
    }),
  })
  return {
    tools,
    search: (args: object) => tools.run(tools.assemble(wanted()), requestOf('web_search', args), contextOf()),
  }
}

const DRIVERS = ['searxng', 'brave', 'tavily'] as const

describe.each(DRIVERS)('web_search by %s', (driver) => {
  const { search } = searching(settings(driver))

  test('gives the hits of a recorded answer, best first, and only what is one', async () => {
    reply = () => Response.json(RECORDED[driver])
    expect((await search({ query: 'tides & moon' })).result).toEqual({
      results: [
        { title: 'A & B', url: 'https://example.com/a', snippet: 'first' },
        { title: 'C', url: 'https://example.com/b', snippet: 'second' },
      ],
    })
    expect((await search({ query: 'tides', count: 1 })).result).toMatchObject({ results: [{ title: 'A & B' }] })
  })

  test.each([
    ['status 429', () => new Response('slow down', { status: 429 }), /status 429/],
    ['status 302', () => new Response(null, { status: 302, headers: { location: 'http://10.0.0.1/' } }), /status 302/],
    ['no JSON', () => new Response('<html>'), /not JSON/],
    ['too much', () => new Response('x'.repeat(3_000_000)), /too large/],
  ])('says what happened at %s, without naming the server', async (_, answer, problem) => {
    reply = answer
    const outcome = await search({ query: 'tides' })
    expect(outcome.status).toBe('error')
    expect(outcome.text).toMatch(problem)
    expect(outcome.text).not.toMatch(/brave|tavily|searx|127\.0\.0\.1/i)
  })

  test.each([[[]], [null], [{ results: 'x', web: 3 }], [{ results: [1, [], {}] }]])(
    'finds nothing in an answer of another form: %j',
    async (answer) => {
      reply = () => Response.json(answer)
      expect((await search({ query: 'tides' })).result).toEqual({ results: [] })
    },
  )
})

describe('what each is asked', () => {
  test('SearXNG: its JSON form', async () => {
    reply = () => Response.json(RECORDED.searxng)
    await searching(settings('searxng')).search({ query: 'tides & moon' })
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/search', query: { q: 'tides & moon', format: 'json' } })
  })

  test('Brave: with the key in its header', async () => {
    reply = () => Response.json(RECORDED.brave)
    await searching(settings('brave')).search({ query: 'tides', count: 3 })
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/res/v1/web/search', query: { q: 'tides', count: '3' } })
    expect(seen[0]!.headers.get('x-subscription-token')).toBe('k1')
  })

  test('Tavily: with the key as a bearer token', async () => {
    reply = () => Response.json(RECORDED.tavily)
    await searching(settings('tavily')).search({ query: 'tides', count: 3 })
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/search' })
    expect(seen[0]!.headers.get('authorization')).toBe('Bearer k1')
    expect(JSON.parse(seen[0]!.body)).toMatchObject({ query: 'tides', max_results: 3 })
  })
})

describe('without a search server', () => {
  test.each([
    ['none is named', settings('none')],
    ['SearXNG has no address', settings('searxng', '')],
    ['Brave has no key', settings('brave', '', '')],
    ['Tavily has no key', settings('tavily', '', '')],
  ])('where %s, the tool says so and is not offered', async (_, given) => {
    const { tools } = searching(given)
    const entry = (await tools.list(wanted().call, {})).find(({ name }) => name === 'web_search')
    expect(entry).toMatchObject({ available: false, unavailableReason: expect.stringContaining('No search') })
    expect(tools.assemble(wanted()).tools.has('web_search')).toBe(false)
  })

  test('an unreachable server is reported as unreachable', async () => {
    const { search } = searching(settings('searxng', 'http://127.0.0.1:1'))
    expect((await search({ query: 'tides' })).text).toContain('cannot be reached')
  })
})
