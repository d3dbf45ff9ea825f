import { expect, test } from 'bun:test'
import { freshPrompt } from '../completions/upstream-world'
import { eventually } from '../support/eventually'
import { PIXEL } from '../support/pixel'
import type { Upstream } from '../support/upstream'
import type { Person, Reply, World } from '../support/world'

/** A call that an answer asks for, or that a turn holds. */
export type Call = { id: string; name: string; arguments: string }

/** A request in no format: every format writes it in its own way. */
export type ApiRequest = {
  prompt: string
  model?: string
  system?: string
  /** Calls of the assistant after the prompt, each with its result. */
  calls?: readonly (Call & { result: string })[]
  tools?: readonly string[]
  choice?: 'none' | 'required' | { name: string }
  schema?: Record<string, unknown>
  /** A picture beside the prompt, as base64 of a PNG. */
  image?: string
  /** A file beside the prompt. */
  file?: { name: string; base64: string }
  /** A text that ends the answer. */
  stop?: string
  /** Asks for the reasoning of the engine. */
  reasons?: true
  conversation?: string
  /** Most tokens of the answer. */
  limit?: number
  /** Members that the format has not. */
  more?: Record<string, unknown>
}

/** What an answer says, in no format. `ended`: why, in the format's own word. */
export type ApiAnswer = {
  text: string
  calls: Call[]
  refusal: string | null
  ended: string
  input: number
  output: number
  warnings: string[]
  /** Tokens of the prompt that came from a cache. */
  cached: number
  /** The reasoning that is shown. */
  thoughts: string
}

/** One format that clients speak. */
export type Format = {
  path: string
  /** Its words for the ends of an answer. */
  ends: Record<'stop' | 'calls' | 'filter' | 'limit', string> & { sequence: string | null }
  send(request: ApiRequest): Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: every format has a shape of its own
  read(body: any): ApiAnswer
  /** Reads the text of a whole stream, and throws where a client of the format would. */
  readStream(text: string): ApiAnswer
  // biome-ignore lint/suspicious/noExplicitAny: every format has a shape of its own
  error(body: any): { code: string; message: string }
  /** The error at the end of a stream that broke. */
  streamError(text: string): { code: string; message: string }
  /** What asks for a stream, with its usage. */
  streaming: Record<string, unknown>
  /** The status of an engine that does not answer. */
  down: number
  /** A member that would change an answer elsewhere and is ignored here. */
  ignored: Record<string, unknown>
}

export const WEATHER = { type: 'object', required: ['location'], properties: { location: { type: 'string' } } }
const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]]'
const PERSON = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string' } },
}

/** What every format owes, whatever its clients call things (docs/api.md 29.1). */
export function compatSuite(
  format: Format,
  { world, upstream, ada }: { world: World; upstream: Upstream; ada: Person },
) {
  const post = (request: ApiRequest, by = ada): Promise<Reply> =>
    by.send('POST', `/v1${format.path}`, { ...format.send({ model: 'svc-1-flash', ...request }), ...request.more })
  const answered = async (request: ApiRequest, by?: Person): Promise<ApiAnswer> => {
    const { status, body } = await post(request, by)
    expect({ status, error: body.error ?? null }).toEqual({ status: 200, error: null })
    return format.read(body)
  }
  const streamed = async (request: ApiRequest): Promise<ApiAnswer> => {
    const { status, text } = await post({ ...request, more: { ...request.more, ...format.streaming } })
    expect(status).toBe(200)
    return format.readStream(text)
  }
  const refused = async (request: ApiRequest, by?: Person) => {
    const { status, body, headers } = await post(request, by)
    return { status, headers, ...format.error(body) }
  }

  test('plain', async () => {
    expect(await answered({ prompt: freshPrompt(), system: 'Be brief.' })).toEqual({
      text: 'Hello from the scripted upstream.',
      calls: [],
      refusal: null,
      ended: format.ends.stop,
      input: 11,
      output: 5,
      warnings: [],
      cached: 0,
      thoughts: '',
    })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Be brief.')
  })

  test('a stream equals the plain answer (docs/api.md 33.6.1, 33.6.4, 33.6.28)', async () => {
    const prompt = freshPrompt('[[say:one two\u2028three]]')
    expect(await streamed({ prompt })).toEqual(await answered({ prompt }))
  })

  test('tools over two turns', async () => {
    const prompt = freshPrompt(`${PLAN} [[say:Oslo: Snow.]]`)
    const { calls, ended } = await answered({ prompt, tools: ['get_weather'] })
    expect(ended).toBe(format.ends.calls)
    expect(calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ['get_weather', { location: 'Oslo' }],
      ['get_weather', { location: 'Rome' }],
    ])
    const results = calls.map((call) => ({ ...call, result: `Snow in ${JSON.parse(call.arguments).location}.` }))
    expect((await answered({ prompt, tools: ['get_weather'], calls: results })).text).toBe('Oslo: Snow.')
    const sent = JSON.stringify(upstream.calls.at(-1)!.body.messages)
    expect(sent).toContain('Snow in Oslo.')
    expect(sent).toContain('Snow in Rome.')
  })

  test('parallel calls in a stream (docs/api.md 33.6.3, 33.6.13, 33.6.14, 33.6.28)', async () => {
    const prompt = freshPrompt(PLAN)
    const { calls, ended } = await streamed({ prompt, tools: ['get_weather'] })
    expect(ended).toBe(format.ends.calls)
    expect(calls.map((call) => call.arguments)).toEqual(['{"location":"Oslo"}', '{"location":"Rome"}'])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  })

  test('a forced tool', async () => {
    const request = { prompt: freshPrompt('[[tool:get_weather]]'), tools: ['get_weather'] }
    expect((await answered({ ...request, choice: { name: 'get_weather' } })).calls).toHaveLength(1)
    expect((await answered({ ...request, choice: 'required' })).calls).toHaveLength(1)
    expect(await refused({ ...request, choice: { name: 'nobody' } })).toMatchObject({ status: 400 })
  })

  test('a file', async () => {
    const base64 = Buffer.from('The heliotrope tide is at noon.').toString('base64')
    await answered({ prompt: freshPrompt(), file: { name: 'tides.txt', base64 } })
    const sent = JSON.stringify(upstream.calls.at(-1)!.body.messages)
    expect(sent).toContain('heliotrope')
    expect(sent).toContain('tides.txt')
    const torn = { name: 'tides.pdf', base64: Buffer.from('%PDF-1.7 and no more').toString('base64') }
    expect(await refused({ prompt: freshPrompt(), file: torn })).toMatchObject({ status: 400 })
  })

  test('reasoning is shown apart from the answer, plain and streamed (docs/api.md 33.6.1, 33.6.12, 33.6.15)', async () => {
    const request: ApiRequest = { prompt: freshPrompt('[[think:Two and two.]] [[say:Four.]]'), reasons: true }
    expect(await answered(request)).toMatchObject({ text: 'Four.', thoughts: 'Two and two.' })
    expect(await streamed(request)).toMatchObject({ text: 'Four.', thoughts: 'Two and two.' })
  })

  if (format.ends.sequence !== null)
    test('a text that ends the answer', async () => {
      const request = { prompt: freshPrompt('[[say:One END two]]'), stop: 'END' }
      expect(await answered(request)).toMatchObject({ text: 'One ', ended: format.ends.sequence })
      expect(await streamed(request)).toMatchObject({ text: 'One ', ended: format.ends.sequence })
    })

  test('an output limit', async () => {
    const request = { prompt: freshPrompt('[[tokens:400]]'), limit: 20 }
    const { ended, output } = await answered(request)
    expect(ended).toBe(format.ends.limit)
    expect(output).toBeLessThanOrEqual(20)
    expect((await streamed(request)).ended).toBe(format.ends.limit)
  })

  test('cached tokens are part of the prompt (docs/api.md 33.6.16)', async () => {
    const request = { prompt: freshPrompt('[[cached:9]]') }
    expect(await answered(request)).toMatchObject({ input: 11, cached: 9 })
    expect(await streamed(request)).toMatchObject({ input: 11, cached: 9 })
  })

  test('a prompt that a guardrail blocks, and an answer', async () => {
    const eve = await world.person()
    const rule = (phase: string, term: string) => ({
      guardrail_id: 'blocked_terms',
      phase,
      verdict: 'block',
      config: { terms: [term] },
    })
    const rules = [rule('input', 'attack'), rule('output', 'secret')]
    expect((await eve.send('POST', 'guardrail-policies', { name: 'Mine', rules, is_default: true })).status).toBe(201)
    const refusal = await refused({ prompt: freshPrompt('An attack') }, eve)
    expect({ status: refusal.status, code: refusal.code }).toEqual({ status: 400, code: 'guardrail_blocked' })
    const { ended, text } = await answered({ prompt: freshPrompt('[[say:A secret.]]') }, eve)
    expect({ ended, isShown: text.includes('secret.') }).toEqual({ ended: format.ends.filter, isShown: false })
  })

  test('no tool', async () => {
    const { text, calls } = await answered({ prompt: freshPrompt(), tools: ['get_weather'], choice: 'none' })
    expect({ text, calls }).toEqual({ text: 'Hello from the scripted upstream.', calls: [] })
  })

  test('a JSON schema', async () => {
    const { text } = await answered({ prompt: freshPrompt('[[say:{"name":"Ada"}]]'), schema: PERSON })
    expect(JSON.parse(text)).toEqual({ name: 'Ada' })
    const wrong = { prompt: freshPrompt('[[say:{"age":1}]]'), schema: PERSON }
    expect((await answered(wrong)).refusal).toContain('does not fit')
    expect((await streamed(wrong)).refusal).toContain('does not fit')
  })

  test('an image (docs/api.md 33.6.23)', async () => {
    await answered({ prompt: freshPrompt(), image: PIXEL, model: 'svc-1-auto' })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain(PIXEL)
  })

  test.each(['cut', 'truncate'])(
    'an engine that breaks off after the first byte (%s) ends the stream with its error (docs/api.md 33.6.19)',
    async (fault) => {
      const prompt = freshPrompt(`[[${fault}]][[slow:40]][[tokens:8]]`)
      const { status, text } = await post({ prompt, more: { stream: true } })
      expect(status).toBe(200)
      expect(format.streamError(text).message).toContain('stopped in the middle')
    },
  )

  test('a client that leaves stops the engine', async () => {
    upstream.reset()
    const leaving = new AbortController()
    const request = new Request(`http://localhost/v1${format.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...format.send({ prompt: freshPrompt('[[hang]]') }), stream: true }),
      signal: leaving.signal,
    })
    const answer = Promise.resolve(world.app.api.handle(request)).catch(() => null)
    await eventually(() => upstream.calls.length > 0)
    leaving.abort()
    await eventually(upstream.aborted)
    await answer
  })

  test("an unknown model is answered by the server's choice, with a warning", async () => {
    const { warnings } = await answered({ prompt: freshPrompt(), model: 'gpt-unheard-of' })
    expect(warnings.join()).toContain('"gpt-unheard-of"')
  })

  test('an ignored member is named (docs/api.md 33.6.26)', async () => {
    const { status, headers, body } = await post({ prompt: freshPrompt(), more: format.ignored })
    expect(status).toBe(200)
    for (const name of Object.keys(format.ignored)) {
      expect(headers.get('x-svc-ignored')).toContain(name)
      expect(format.read(body).warnings.join()).toContain(name)
    }
  })

  test('an unknown member is ignored without a word', async () => {
    const { status, headers, body } = await post({ prompt: freshPrompt(), more: { never_heard_of: 1 } })
    expect({ status, named: headers.get('x-svc-ignored') }).toEqual({ status: 200, named: null })
    expect(format.read(body).warnings).toEqual([])
  })

  test('a conversation continues', async () => {
    const begun = await ada.send('POST', 'completions', { prompt: freshPrompt('[[say:Blue.]]'), mode: 'fast' })
    const conversation = begun.body.conversation_id as string
    await answered({ prompt: freshPrompt('Why?'), conversation })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Blue.')
    expect(await refused({ prompt: 'Why?', conversation: crypto.randomUUID() })).toMatchObject({ status: 404 })
  })

  test('is counted, audited and charged as one call by its own route (docs/api.md 33.6.29)', async () => {
    const eve = await world.person()
    const spent = async () => (await eve.send('GET', 'billing/limits')).body.usage.daily_used_cents as number
    expect(await spent()).toBe(0)
    await answered({ prompt: freshPrompt() }, eve)
    const rows = (await eve.send('GET', 'audit')).body as { action: string; inputSummary: { endpoint: string } }[]
    expect(
      rows.filter(({ action }) => action === 'completion.created').map((row) => row.inputSummary.endpoint),
    ).toEqual([format.path])
    expect(await spent()).toBeGreaterThan(0)
  })

  // The last one: afterwards the engine counts as down.
  test('an engine that is down before the first byte keeps its status, plain and streamed', async () => {
    const request = { prompt: freshPrompt('[[drop]]'), model: 'svc-1-reason' }
    const plain = await refused(request)
    expect(plain).toMatchObject({ status: format.down, code: expect.any(String) })
    expect(plain.headers.get('retry-after')).not.toBeNull()
    expect(await refused({ ...request, more: { stream: true } })).toMatchObject({ status: format.down })
  })
}
