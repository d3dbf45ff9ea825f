import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()

describe('GET /models', () => {
  test('lists twelve engines and those of vectors for native clients and for chat clients, naming nobody behind them', async () => {
    const { status, body, text } = await ada.send('GET', 'models')
    expect(status).toBe(200)
    expect(body.models).toHaveLength(14)
    expect(body.models[1]).toEqual({
      mode: 'fast',
      model_id: 'svc-1-flash',
      label: 'Svc Flash',
      engine: 'svc-core',
      description: 'Quick answers to everyday questions.',
      status: 'available',
    })
    expect(body.object).toBe('list')
    expect(body.data[0]).toMatchObject({ id: 'svc-1-auto', object: 'model', owned_by: 'svc', display_name: 'Svc Auto' })
    expect(body).toMatchObject({ has_more: false, first_id: 'svc-1-auto', last_id: body.data.at(-1).id })
    expect(text).not.toMatch(/builtin|compat|anthropic|openai|google/i)
  })

  test('says that all are available where the server makes pictures and videos itself', async () => {
    const { body } = await ada.send('GET', 'models')
    const listed = body.models.filter(({ mode }: { mode: string }) => mode !== 'embedding')
    const short = listed.filter(({ status }: { status: string }) => status !== 'available')
    // Without a search server a research reads only what its prompt names.
    expect(short).toEqual([expect.objectContaining({ mode: 'research', status: 'degraded' })])
  })

  test('offers clients only what they can name, in the same order', async () => {
    const { body } = await ada.send('GET', 'models')
    const answering = body.models.filter(
      ({ mode, status }: { mode: string; status: string }) => mode !== 'video' && status !== 'down',
    )
    const ids = body.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(answering.map(({ model_id }: { model_id: string }) => model_id))
    expect(ids).toHaveLength(12)
    expect(body.data.at(-1)).toMatchObject({ id: 'svc-1-embed-local', dimensions: 512, context_window: 8_192 })
    expect((await ada.send('GET', 'models/svc-1-embed-local')).body).toMatchObject({ dimensions: 512 })
    expect(ids).not.toContain('svc-1-motion')
  })
})

test('says what each model reads and takes (docs/api.md 32.2, 33.6.30)', async () => {
  const { body } = await ada.send('GET', 'models/svc-1-flash')
  expect(body).toMatchObject({ type: 'model', created_at: '2026-01-01T00:00:00.000Z', input_modalities: ['text'] })
  expect((await ada.send('GET', 'models/svc-1-vision')).body.input_modalities).toEqual(['text', 'image'])
  expect(body.supported_parameters).toEqual(['max_completion_tokens', 'max_tokens', 'stop'])
  expect(body.context_window).toBeGreaterThan(1_000)
  expect(body.max_output_tokens).toBeGreaterThan(100)
})

describe('GET /models/{id}', () => {
  test('gives one engine in both forms', async () => {
    const { status, body } = await ada.send('GET', 'models/svc-1-vision')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: 'svc-1-vision',
      model_id: 'svc-1-vision',
      object: 'model',
      mode: 'vision',
      owned_by: 'svc',
    })
  })

  test.each(['svc-1-none', 'svc-1-photo', 'svc-1-edge', 'constructor', '__proto__'])(
    '%s is not listed: 404',
    async (id) => {
      const { status, body } = await ada.send('GET', `models/${id}`)
      expect(status).toBe(404)
      expect(body.error.code).toBe('not_found')
    },
  )
})
