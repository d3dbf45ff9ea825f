import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createPrices } from '../../src/billing'
import { engineSettings } from '../../src/engines'
import type { UpstreamConfig } from '../../src/engines/config'
import { readEngineConfig, upstreamPrices } from '../../src/engines/config'
import { resolveSettings } from '../../src/kernel/config'
import { startUpstream } from '../support/upstream'
import { messagesDialect } from '../support/upstream/vendors'
import { ask, NO_ENGINES, openEngines } from './setup'

const [first, second] = [await startUpstream(), await startUpstream()]
const vendor = await startUpstream({ dialect: messagesDialect })
afterAll(() => Promise.all([first.stop(), second.stop(), vendor.stop()]))
beforeEach(() => {
  for (const upstream of [first, second, vendor]) upstream.reset()
})

const PICTURE = ask('', {
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image', mimeType: 'image/png', base64: 'aGk=' },
      ],
    },
  ],
})
const TOOLS = ask('Hello', { tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }] })

type Abilities = Partial<Pick<UpstreamConfig, 'vision' | 'tools' | 'json' | 'headers'>>

/** Engines of two upstreams, the first one preferred, and which of them was asked. */
function open(ofFirst: Abilities, ofSecond: Abilities = {}) {
  const upstreams = {
    first: { kind: 'compat' as const, baseUrl: first.url, ...ofFirst },
    second: { kind: 'compat' as const, baseUrl: second.url, ...ofSecond },
  }
  const engines = { upstreams, models: { '*': ['first:a', 'second:b'] } }
  return openEngines({ ...NO_ENGINES, engines }).engines
}
const requestedOf = () => [first.calls.length, second.calls.length]

describe('a request that needs what an engine cannot (docs/api.md 28.4)', () => {
  test.each([
    ['images', 'vision', PICTURE],
    ['tools', 'tools', TOOLS],
    ['JSON output', 'json', ask('Hello', { json: true })],
  ])('%s: goes to the next target that can, and to none is 503 that names it', async (missing, ability, request) => {
    await open({ [ability]: false }).answer('svc-1-reason', request)
    expect(requestedOf()).toEqual([0, 1])
    await open({ [ability]: false }).answer('svc-1-reason', ask('Hello'))
    expect(requestedOf()).toEqual([1, 1])
    const none = open({ [ability]: false }, { [ability]: false })
    const refused = { code: 'engine_unavailable', message: expect.stringContaining(`cannot do ${missing}.`) }
    await expect(none.answer('svc-1-reason', request)).rejects.toMatchObject(refused)
    await expect(none.run('svc-1-reason', request, () => undefined)).rejects.toMatchObject(refused)
    expect(requestedOf()).toEqual([1, 1])
  })

  test('all that it needs has to be there in one target', async () => {
    const request = { ...PICTURE, json: true as const }
    await expect(open({ vision: false }, { json: false }).answer('svc-1-reason', request)).rejects.toMatchObject({
      message: expect.stringContaining('cannot do images and JSON output.'),
    })
  })

  test('images go first to a target that is known to see, the rest to the first', async () => {
    const engines = open({}, { vision: true })
    await engines.answer('svc-1-reason', PICTURE)
    expect(requestedOf()).toEqual([0, 1])
    await engines.answer('svc-1-reason', ask('Hello'))
    expect(requestedOf()).toEqual([1, 1])
  })

  test('what an upstream says of its model counts, and less than what the operator says', async () => {
    const listing = { id: 'a', architecture: { input_modalities: ['text', 'image'] }, supported_parameters: [] }
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ data: [listing] }) })
    const upstream = { kind: 'compat' as const, baseUrl: `http://127.0.0.1:${server.port}/v1`, tools: true }
    const { engines } = openEngines({
      ...NO_ENGINES,
      engines: { upstreams: { it: upstream }, models: { '*': ['it:a'] } },
    })
    expect(engines.takesImages('svc-1-flash')).toBe(false)
    await engines.askUpstreams()
    expect(engines.takesImages('svc-1-flash')).toBe(true)
    expect(engines.callsTools('svc-1-flash')).toBe(true)
    await expect(engines.answer('svc-1-flash', ask('Hello', { json: true }))).rejects.toMatchObject({
      message: expect.stringContaining('cannot do JSON output.'),
    })
    await server.stop(true)
  })
})

describe('extra headers', () => {
  const headers = { 'X-Team': 'blue', Authorization: 'Basic abc' }

  test('go with every call of a chat-completions server, instead of our own', async () => {
    await open({ headers }).answer('svc-1-reason', ask('Hello'))
    expect(first.calls[0]!.headers).toMatchObject({ 'x-team': 'blue', authorization: 'Basic abc' })
  })

  test('go with every call of a vendor', async () => {
    const upstreams = { it: { kind: 'anthropic' as const, baseUrl: vendor.url, apiKey: 'k', headers } }
    const { engines } = openEngines({ ...NO_ENGINES, engines: { upstreams, models: { '*': ['it:a'] } } })
    await engines.answer('svc-1-reason', ask('Hello'))
    expect(vendor.calls[0]!.headers).toMatchObject({ 'x-team': 'blue', 'x-api-key': 'k' })
  })

  test.each(['Host', 'content-length'])('%s belongs to the message and is refused', (name) => {
    expect(() => open({ headers: { [name]: '1' } })).toThrow('cannot be changed')
  })
})

test('the prices of an upstream are those of the engines that ask it first, under those of the operator', () => {
  const upstreams = {
    cheap: { kind: 'compat', baseUrl: first.url, prices: { promptPer1k: 7, completionPer1k: 9 } },
    other: { kind: 'compat', baseUrl: second.url },
  }
  const engines = { upstreams, models: { '*': ['cheap:a'], 'svc-1-code': ['other:b', 'cheap:a'] } }
  const { values } = resolveSettings(engineSettings, {}, { engines })
  const prices = createPrices({ 'svc-1-roast': { promptPer1k: 1 } }, upstreamPrices(readEngineConfig(values)))
  expect(prices.priceOf('svc-1-flash')).toEqual({ promptPer1k: 7, completionPer1k: 9 })
  expect(prices.priceOf('svc-1-roast')).toEqual({ promptPer1k: 1, completionPer1k: 9 })
  expect(prices.priceOf('svc-1-code')).toEqual(createPrices().priceOf('svc-1-code'))
})
