import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const ada = await (await createWorld()).person()

const traits = { romantic: 0, intelligent: 100, sarcastic: 50, rude: 0, funny: 0.5, comedic: 1, witty: 1 }
const message = {
  id: 'm1',
  role: 'user',
  content: 'x',
  createdAt: '2026-01-01T00:00:00Z',
  mode: 'fast',
  artifacts: [{}],
}

/** Every member of docs/api.md 2.1 at its edges. */
const ACCEPTED: Record<string, unknown>[] = [
  { prompt: 'x' },
  { prompt: 'a'.repeat(100_000) },
  ...['auto', 'fast', 'think', 'code', 'roast', 'genui', 'data_extraction', 'domain_analysis', 'stealth_text'].map(
    (mode) => ({ mode }),
  ),
  { conversation_id: null },
  { conversation: { messages: [] } },
  { conversation: { id: 'a', title: 'b', messages: [message, { role: 'assistant', content: '' }] } },
  { conversation: { messages: Array.from({ length: 50 }, () => ({ role: 'user', content: 'x' })) } },
  { skills: [] },
  { skills: Array.from({ length: 20 }, (_, at) => `skill-${at}`) },
  { tools: [{ name: 'look_up-1', description: 'Looks up', input_schema: { type: 'object' } }] },
  {
    tools: [
      { name: 'a', description: '', endpoint: { url: 'https://example.com', method: 'PUT', headers: { a: 'b' } } },
    ],
  },
  { persona: 'svc' },
  { persona: 'none' },
  { persona: { system_prompt: 'a'.repeat(20_000) } },
  { personality_config: { traits, uncensored_mode: true, active_preset_id: 'preset' } },
  { personality_config: { traits, uncensored_mode: false, active_preset_id: null } },
  { response_style: {} },
  { response_style: { format: 'bullets', preciseness: 'brief', intent: 'a'.repeat(64) } },
  { svc_branding: false },
  { brand_soul: false },
  { temperature: 0 },
  { temperature: 2 },
  { max_iterations: 1 },
  { max_iterations: 20 },
  { model_overrides: {} },
  { model_overrides: { fast: 'svc-1-reason', stealth_text: 'svc-1-edge' } },
  { format: 'svc' },
  { metadata: null },
  { metadata: {} },
  { metadata: { _evi: true, nested: { list: [1, null, 'x'] } } },
  { metadata: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, at])) },
  { component_library: 'shadcn' },
  { attachments: [] },
  { image_model: 'svc-1-photo', image_quality: 'hd' },
  { stealth_model: 'svc-1-flash', stealth_aspect: 'wide', stealth_duration: '10s' },
  { stealth_model: 'anything, since the mode is not stealth' },
  { mode: 'fast', image_model: 'anything, since the mode is not image', image_quality: 3 },
  { stealth_model: 5, stealth_aspect: 'round', stealth_duration: '7s' },
  { unknown_member: { is: 'ignored' }, another: 1 },
]

describe('POST /completions accepts', () => {
  test.each(ACCEPTED)('%j', async (members) => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'What is 2+2?', ...members })
    expect(body.error).toBeUndefined()
    expect(status).toBe(200)
    expect(body.content).not.toBe('')
  })

  test('but no browser session that is not there (docs/api.md 16.4)', async () => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'hi', browser_session_id: 'bb_sess_x' })
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: 'session_not_found' })
  })

  test('and answers every member of docs/api.md 2.2', async () => {
    const { headers, body } = await ada.send('POST', 'completions', { prompt: 'What is 3 + 4?', metadata: { a: 1 } })
    expect(body).toEqual({
      id: expect.stringMatching(/^cmpl_\w{24}$/),
      object: 'completion',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      content: '3 + 4 = 7',
      mode: 'auto',
      resolved_mode: 'fast',
      model: { id: 'svc-1-flash', label: 'Svc Flash', engine: 'svc-core' },
      tools_used: [],
      artifacts: [],
      follow_ups: [],
      usage: {
        cost_cents: 0,
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: body.usage.prompt_tokens + body.usage.completion_tokens,
      },
      metadata: { a: 1 },
      conversation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      request_id: headers.get('x-request-id'),
      routing: {
        source: 'local',
        confidence: expect.any(Number),
        reasoning: expect.any(String),
        preference_id: null,
        fallback_used: false,
      },
    })
    expect(headers.get('x-cache')).toBe('MISS')
    expect(headers.get('content-type')).toStartWith('application/json')
  })

  test('metadata is echoed as it came, also null', async () => {
    const metadata = { text: 'é 😀', list: [1, { deep: true }], nothing: null }
    expect((await ada.send('POST', 'completions', { prompt: 'a1', metadata })).body.metadata).toEqual(metadata)
    expect((await ada.send('POST', 'completions', { prompt: 'a2', metadata: null })).body.metadata).toBeNull()
    expect((await ada.send('POST', 'completions', { prompt: 'a3' })).body.metadata).toBeNull()
  })

  test('tools, which the engine is told of', async () => {
    const tools = [{ name: 'look_up', description: 'Looks up' }]
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'a5', tools })
    expect(status).toBe(200)
    expect(body.tools_used).toEqual([])
    expect(body.warnings).toBeUndefined()
  })

  test('skills nobody knows are skipped and named in a warning, each once (B29)', async () => {
    const { body } = await ada.send('POST', 'completions', { prompt: 'a4', skills: ['one', '../two', '../two'] })
    expect(body.warnings).toEqual([
      'There is no skill "one", so it was skipped.',
      'There is no skill "../two", so it was skipped.',
    ])
  })

  test('members of other services, which are named in a warning of this answer alone', async () => {
    const input = { prompt: 'What is 3+4?', conversation_id: null }
    const foreign = await ada.send('POST', 'completions', { ...input, model: 'gpt-4o', max_tokens: 5, top_p: 1 })
    expect(foreign.body.warnings).toEqual([
      '"model" was ignored: "mode" and "model_overrides" choose the engine. Chat clients use POST /chat/completions.',
      'Ignored, because this server does not have these settings: max_tokens.',
    ])
    const plain = await ada.send('POST', 'completions', { ...input, model: null, max_tokens: null })
    expect(plain.body).toMatchObject({ _cached: true, content: foreign.body.content })
    expect(plain.body.warnings).toBeUndefined()
  })

  test('follow-ups are at most four, each with label and prompt', async () => {
    const { body } = await ada.send('POST', 'completions', {
      prompt: 'Write a function that adds two numbers',
      mode: 'code',
    })
    expect(body.follow_ups.length).toBeGreaterThan(0)
    expect(body.follow_ups.length).toBeLessThanOrEqual(4)
    for (const followUp of body.follow_ups) expect(Object.keys(followUp)).toEqual(['label', 'prompt'])
  })

  test('an answer that no model is connected suggests none', async () => {
    for (const [input, says] of [
      [{ prompt: 'Write a sonnet about tides', mode: 'think' }, 'No language model is connected to this server'],
      [{ prompt: 'Describe a harbour', mode: 'roast' }, 'No language model is connected to this server'],
    ] as const) {
      const { body } = await ada.send('POST', 'completions', input)
      expect(body.content).toStartWith(says)
      expect(body.follow_ups).toEqual([])
    }
  })
})
