import { afterAll, expect, test } from 'bun:test'
import { startUpstream } from '../../support/upstream'
import { createWorld } from '../../support/world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const world = await createWorld({
  config: {
    engineBuiltin: false,
    engines: {
      upstreams: { one: { kind: 'compat', baseUrl: upstream.url } },
      models: { 'svc-1-flash': ['one:scripted'], 'svc-1-code': ['one:scripted'] },
    },
  },
})

test('a rule whose engine is not connected is answered by the engine of its mode, and says so', async () => {
  const ada = await world.person()
  const rules = [{ pattern: 'zebra', target_mode: 'code', target_engine: 'svc-1-vision' }]
  await ada.send('PUT', `keys/${ada.keyId}/routing-rules`, { rules })
  const { status, body } = await ada.send('POST', 'completions', { prompt: 'zebra one', mode: 'auto' })
  const warning = expect.stringContaining('"svc-1-vision", which is not connected')
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { resolved_mode: 'code', model: { id: 'svc-1-code' }, routing: { source: 'rule', fallback_used: true } },
  })
  expect(body.warnings).toContainEqual(warning)
  const { body: events } = await ada.send('GET', 'audit?action=completion.created')
  expect(events[0].outputSummary).toMatchObject({ fallback_used: true, routing_warnings: [warning] })
  const preview = await ada.send('POST', 'routing-preferences/preview', { prompt: 'zebra two' })
  expect(preview.body).toMatchObject({ resolved_mode: 'code', engine: 'svc-1-code', warnings: [warning] })
  const named = { prompt: 'zebra three', mode: 'auto', model_overrides: { code: 'svc-1-flash' } }
  const overridden = (await ada.send('POST', 'completions', named)).body
  expect(overridden).toMatchObject({ model: { id: 'svc-1-flash' }, routing: { fallback_used: false } })
})
