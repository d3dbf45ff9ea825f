import { describe, expect, test } from 'bun:test'
import { PIXEL } from '../support/pixel'
import { createWorld } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()
const eve = await (await createWorld()).person()

const TEXT_MODES = [
  ['fast', 'svc-1-flash', 'svc-core'],
  ['think', 'svc-1-reason', 'svc-core'],
  ['code', 'svc-1-code', 'svc-core'],
  ['roast', 'svc-1-roast', 'svc-core'],
  ['genui', 'svc-1-genui', 'svc-core'],
  ['domain_analysis', 'svc-1-analyze', 'svc-core'],
  ['data_extraction', 'svc-1-extract', 'svc-vision'],
  ['vision', 'svc-1-vision', 'svc-vision'],
  ['research', 'svc-1-research', 'svc-search'],
  ['stealth_text', 'svc-1-flash', 'svc-core'],
] as const

describe('a requested mode', () => {
  test.each(TEXT_MODES)('%s is answered by %s', async (mode, id, engine) => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: freshPrompt(), mode })
    expect(status).toBe(200)
    expect(body).toMatchObject({ mode, resolved_mode: mode, model: { id, engine } })
    expect(body.content).toBe('Hello from the scripted upstream.')
    expect(body.routing.source).toBe('explicit')
  })

  test.each(TEXT_MODES)('%s is answered by the built-in engine when nothing is connected, free', async (mode, id) => {
    const { status, body } = await eve.send('POST', 'completions', { prompt: freshPrompt('What is 2+2?'), mode })
    expect(status).toBe(200)
    expect(body.model.id).toBe(id)
    expect(body.content).not.toBe('')
    expect(body.usage.cost_cents).toBe(0)
  })

  test('research runs inline and says where it belongs (B19)', async () => {
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'research' })
    expect(body.warnings).toHaveLength(2)
    expect(body.warnings[0]).toContain('POST /research')
    expect(body.warnings[1]).toContain('There is no research report')
  })
})

describe('auto', () => {
  test.each([
    ['Write a TypeScript function that sorts a list of numbers', 'code'],
    ['hello there', 'fast'],
  ])('%j becomes %s', async (prompt, resolved) => {
    const { body } = await ada.send('POST', 'completions', { prompt, mode: 'auto' })
    expect(body).toMatchObject({ mode: 'auto', resolved_mode: resolved })
    expect(body.routing.source).toBe(resolved === 'fast' ? 'local' : 'heuristic')
  })

  test('a picture makes it vision', async () => {
    const attachments = [{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }]
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt('What is this?'), attachments })
    expect(body).toMatchObject({ resolved_mode: 'vision', model: { id: 'svc-1-vision' } })
  })

  test('is what the account chose when no mode is sent, and nothing else when one is', async () => {
    const bob = await world.person()
    await world.app.container.settings.update(world.callAs(bob), { default_mode: 'code' })
    const unsaid = await bob.send('POST', 'completions', { prompt: freshPrompt('hello') })
    expect(unsaid.body).toMatchObject({ mode: 'code', resolved_mode: 'code', routing: { source: 'explicit' } })
    const message = await bob.send('POST', 'completions', { prompt: freshPrompt('hello'), mode: 'auto' })
    expect(message.body).toMatchObject({ mode: 'auto', resolved_mode: 'fast' })
  })
})

describe('structured modes', () => {
  test.each(['domain_analysis', 'data_extraction'])('%s reads its JSON back', async (mode) => {
    const request = { prompt: freshPrompt('[[say:```json\n{"total":7}\n```]]'), mode }
    const { body } = await ada.send('POST', 'completions', request)
    expect(body.structured_output).toEqual({ type: mode, data: { total: 7 } })
    expect(upstream.calls.at(-1)?.body.response_format).toEqual({ type: 'json_object' })
  })

  test('an answer that is not JSON is kept and reported', async () => {
    const { body } = await ada.send('POST', 'completions', {
      prompt: freshPrompt('[[say:no]]'),
      mode: 'data_extraction',
    })
    expect(body.content).toBe('no')
    expect(body.structured_output).toEqual({
      type: 'data_extraction',
      data: null,
      parse_error: 'The engine did not answer with JSON.',
    })
  })

  test('the built-in engine fills them from the text it is given', async () => {
    const prompt = 'Extract the data: Invoice 4711 of 2026-03-01, total 99.50 EUR, to mail@example.com.'
    const { body } = await eve.send('POST', 'completions', { prompt, mode: 'data_extraction' })
    expect(body.structured_output.parse_error).toBeUndefined()
    expect(JSON.stringify(body.structured_output.data)).toContain('mail@example.com')
  })

  test('genui carries its code twice', async () => {
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt('a button'), mode: 'genui' })
    expect(body.genui_code).toBe(body.content)
  })

  test('other modes carry neither', async () => {
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast' })
    expect(body).not.toHaveProperty('genui_code')
    expect(body).not.toHaveProperty('structured_output')
  })
})

describe('stealth', () => {
  test('keeps nothing: no conversation, no cache, no metadata in the record', async () => {
    const bob = await world.person()
    const input = { prompt: freshPrompt(), mode: 'stealth_text', metadata: { secret: 'hush' } }
    const calls = upstream.calls.length
    for (let round = 0; round < 2; round++) {
      const { body, headers } = await bob.send('POST', 'completions', input)
      expect(body).toMatchObject({ conversation_id: null, metadata: { secret: 'hush' } })
      expect(body._cached).toBeUndefined()
      expect(headers.get('x-cache')).toBe('MISS')
    }
    expect(upstream.calls.length).toBe(calls + 2)
    expect((await bob.send('GET', 'conversations')).body.conversations).toEqual([])
    const { text, body: rows } = await bob.send('GET', 'audit?action=completion.created')
    expect(rows).toHaveLength(2)
    expect(text).not.toContain('hush')
    expect(rows[0].inputSummary).toMatchObject({ prompt_length: input.prompt.length, mode: 'stealth_text' })
  })

  test('remembers nothing, whatever its engine asks for, and its record tells no tool', async () => {
    const eve = await world.person()
    const { body } = await eve.send('POST', 'completions', {
      prompt: freshPrompt('[[plan:save_memory{"content":"Eve was here."};note{}]]'),
      mode: 'stealth_text',
      tools: [{ name: 'note', description: 'Notes something.' }],
    })
    expect(body.tools_used.map(({ name, description }: Record<string, unknown>) => [name, description])).toEqual([
      ['save_memory', 'unknown tool'],
      ['note', 'done'],
    ])
    expect((await eve.send('GET', 'memory')).body.memories).toEqual([])
    const [event] = (await eve.send('GET', `audit?entity_id=${body.id}`)).body
    expect(event.outputSummary.tools_used).toEqual([])
  })

  test('cannot continue a conversation', async () => {
    const { body } = await ada.send('POST', 'completions', {
      prompt: freshPrompt(),
      conversation_id: crypto.randomUUID(),
      mode: 'stealth_text',
    })
    expect(body.error).toMatchObject({ code: 'validation_error', param: 'conversation_id' })
  })

  test('is answered by the engine that was pinned', async () => {
    const { body } = await ada.send('POST', 'completions', {
      prompt: freshPrompt(),
      mode: 'stealth_text',
      stealth_model: 'svc-1-reason',
    })
    expect(body.model.id).toBe('svc-1-reason')
  })
})
