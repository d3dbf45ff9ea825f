import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { PIXEL } from '../files/support'
import { startPictureServer } from '../support/upstream/pictures'
import { createWorld } from '../support/world'

setDefaultTimeout(60_000)

const painter = startPictureServer()
afterAll(() => painter.stop())
const upstreams = { own: { kind: 'compat' as const, baseUrl: painter.url, apiKey: 'sk-own', imageEdits: true } }
const world = await createWorld({ config: { engines: { upstreams, models: { 'svc-1-create': ['own:painter'] } } } })

test('a follow-up sends the picture of the conversation and only the change; one of someone else is never sent', async () => {
  const ada = await world.person({ cents: 100 })
  const { conversation_id } = (await ada.send('POST', 'completions', { prompt: 'a pixel', mode: 'image' })).body
  const next = await ada.send('POST', 'completions', { prompt: 'make it red', mode: 'image', conversation_id })
  expect(next.status).toBe(200)
  expect(next.body.artifacts).toHaveLength(1)
  expect(painter.calls).toMatchObject([
    { path: '/v1/images/generations', prompt: 'a pixel', sent: [] },
    { path: '/v1/images/edits', prompt: 'make it red', sent: [PIXEL.length], model: 'painter' },
  ])

  const gone = next.body.artifacts[0].id
  expect((await ada.send('DELETE', `artifacts/${gone}`)).status).toBe(200)
  await ada.send('POST', 'completions', { prompt: 'make it larger', mode: 'image', conversation_id })
  const prompt = 'a pixel. Change: make it red. Change: make it larger.'
  expect(painter.calls.at(-1)).toMatchObject({ path: '/v1/images/generations', prompt, sent: [] })
})
