import { afterAll, describe, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../src/engines/drivers/ai-sdk-client'
import { readListing } from '../../src/engines/drivers/upstream'
import { fakeClock } from '../support/clock'
import { serveLocally } from '../support/listening'
import { startUpstream } from '../support/upstream'
import { long, openEngines } from './setup'

const upstream = await startUpstream()
afterAll(() => upstream.stop())

const refusing = serveLocally(() => Response.json({ code: 'bad_key' }, { status: 401 }))

const SILENT_AT = 'http://127.0.0.1:9/v1'

describe('asking the upstreams', () => {
  test('says where each is and what it answered', async () => {
    const refused = `http://127.0.0.1:${refusing.port}/v1`
    const { engines } = openEngines(
      long(
        { here: upstream, silent: SILENT_AT, refusing: refused.replace('//', '//user:pass@') },
        { '*': ['here:scripted', 'here:other', 'silent:a', 'refusing:a'] },
      ),
    )
    expect(await engines.askUpstreams()).toEqual([
      {
        upstream: 'here',
        address: upstream.url,
        models: ['scripted', 'other'],
        up: true,
        latencyMs: expect.any(Number),
        problem: null,
        listed: ['scripted'],
        unlisted: ['other'],
      },
      expect.objectContaining({ address: SILENT_AT, up: false, problem: 'nothing listens there' }),
      expect.objectContaining({
        address: refused,
        up: false,
        problem: 'the upstream answered 401 (bad_key): it refuses the configured key',
      }),
    ])
    expect(upstream.calls).toHaveLength(0)
  })

  test('an engine whose upstream just failed to answer is down until the next probe or for 30 s', async () => {
    const { engines, clock } = openEngines(long({ silent: SILENT_AT }, { '*': ['silent:a'] }))
    const fast = () => engines.models().find(({ mode }) => mode === 'fast')!.status
    expect(fast()).toBe('available')
    await engines.askUpstreams()
    expect(fast()).toBe('down')
    clock.advance(30_000)
    expect(fast()).toBe('available')
  })

  test('a vendor is asked for its models with the key, so a wrong one shows', async () => {
    const driver = createAiSdkDriver({
      vendor: 'anthropic',
      baseUrl: `http://127.0.0.1:${refusing.port}/v1`,
      apiKey: 'wrong',
      clock: fakeClock(),
    })
    await expect(driver.probe(new AbortController().signal)).rejects.toMatchObject({ kind: 'config' })
  })
})

describe('a list of models', () => {
  test('is read in the forms that servers send', () => {
    const models = readListing(
      JSON.stringify({
        data: [
          { id: 'a' },
          { id: 'b', architecture: { input_modalities: ['text', 'image'] }, supported_parameters: ['tools'] },
          { id: 'c', capabilities: { vision: false, function_calling: true } },
          { name: 'models/d', capabilities: { image_input: { supported: true } } },
        ],
      }),
    )
    expect(models).toEqual([
      { id: 'a', vision: undefined, tools: undefined, json: undefined },
      { id: 'b', vision: true, tools: true, json: false },
      { id: 'c', vision: false, tools: true, json: undefined },
      { id: 'd', vision: true, tools: undefined, json: undefined },
    ])
  })

  test.each(['', 'null', '[]', '{"data":7}', '{"data":[null,7,{"id":7},{}]}', '<html>'])('%p lists nothing', (text) => {
    expect(readListing(text)).toEqual([])
  })
})
