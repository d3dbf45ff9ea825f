// SQLite only: parameters go to the engine, which no database sees.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { ChatParameters } from '../../src/kernel/caller'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { onTerms, under } from '../guardrails/support'
import { type Frame, joinDeltas, readFrames } from '../support/frames'
import { listen } from '../support/listening'
import { BUILD, likelyDialect } from '../support/upstream/dialect'
import { createWorld } from '../support/world'

let refused: string | null = null
const { world, upstream } = await createUpstreamWorld({
  upstream: {
    reply: () => {
      const name = refused
      refused = null
      return name
        ? { status: 400, body: { error: { message: `Unsupported parameter: '${name}'`, param: name } } }
        : undefined
    },
  },
})
const ada = await world.person()
const { key } = ada
const builtin = await (await createWorld()).person()

async function post(path: string, body: object) {
  const reply = await world.app.api.handle(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc-1-flash', ...body }),
    }),
  )
  return { status: reply.status, text: await reply.text() }
}

async function chat(words: string, more: object = {}, path = '/v1/chat/completions') {
  const { status, text } = await post(path, { messages: [{ role: 'user', content: freshPrompt(words) }], ...more })
  return { status, body: JSON.parse(text), sent: upstream.calls.at(-1)!.body }
}

const PARAMETERS = {
  top_p: 0.5,
  seed: 7,
  frequency_penalty: 1,
  presence_penalty: -1,
  logit_bias: { 50: 3 },
  reasoning_effort: 'low',
  verbosity: 'low',
  logprobs: true,
  top_logprobs: 2,
  prompt_cache_key: 'mine',
}

describe('parameters of chat clients (docs/api.md 33.2)', () => {
  test('go to the engine from the addresses where clients expect it, and are listed (docs/api.md 33.6.30)', async () => {
    const { status, body, sent } = await chat('hi', { ...PARAMETERS, max_completion_tokens: 40, stop: 'END' })
    expect(status).toBe(200)
    expect(sent).toMatchObject({ ...PARAMETERS, max_tokens: 40, stop: ['END'] })
    expect(body.svc_metadata.warnings).toEqual(['"logprobs" is null, because the engine gave none.'])
    const { supported_parameters: listed } = (await ada.send('GET', 'models/svc-1-flash')).body
    expect(Object.keys(PARAMETERS).filter((name) => !listed.includes(name))).toEqual([])
  })

  test('are ignored with a warning where the specification says so', async () => {
    const { body, sent } = await chat('hi', { ...PARAMETERS, stop: 'END' }, '/api/v1/chat/completions')
    expect(sent.top_p).toBeUndefined()
    expect(body.svc_metadata.warnings[0]).toContain('top_p')
  })

  test.each([
    ['top_p', 2],
    ['max_tokens', 0],
    ['stop', ['']],
    ['reasoning_effort', 'most'],
    ['logprobs', 'yes'],
    ['top_logprobs', 21],
    ['prompt_cache_key', 'k'.repeat(513)],
  ])('%s out of bounds is refused only where it counts', async (name, value) => {
    const { status, body } = await chat('hi', { [name]: value })
    expect({ status, param: body.error.param.split('[')[0] }).toEqual({ status: 400, param: name })
    expect((await chat('hi', { [name]: value }, '/api/v1/chat/completions')).status).toBe(200)
  })

  test('a parameter that the engine refuses by its name is left out, and not sent to it again', async () => {
    refused = 'top_p'
    const calls = upstream.calls.length
    expect((await chat('hi', { top_p: 0.1, seed: 3 })).status).toBe(200)
    expect(upstream.calls.slice(calls).map(({ body }) => [body.top_p, body.seed])).toEqual([
      [0.1, 3],
      [undefined, 3],
    ])
    expect((await chat('hi', { top_p: 0.1 })).sent.top_p).toBeUndefined()
    refused = 'top_logprobs'
    expect((await chat('hi', { logprobs: true, seed: 3 })).status).toBe(200)
    const { logprobs, seed } = upstream.calls.at(-1)!.body
    expect({ logprobs, seed }).toEqual({ logprobs: undefined, seed: 3 })
  })

  test('what may begin a text of "stop" and does not is said at the end', async () => {
    const { text } = await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: freshPrompt('[[say:all of THE]]') }],
      stop: ['THE END'],
      stream: true,
    })
    expect(joinDeltas(readFrames(text))).toBe('all of THE')
  })

  test('a request with an output limit is always answered with text', async () => {
    const { body } = await chat('Draw a picture of a cat', { model: 'auto', max_tokens: 20 })
    expect(body.svc_metadata.resolved_mode).not.toBe('image')
  })
})

describe('what an answer tells (docs/api.md 33.4)', () => {
  test('thoughts by both names, plain and streamed, unless they are not wanted (docs/api.md 33.6.27)', async () => {
    const { body } = await chat('[[think:hm]] [[cached:9]]')
    expect(body.choices[0].message).toMatchObject({ reasoning: 'hm', reasoning_content: 'hm' })
    expect(body.usage.prompt_tokens_details.cached_tokens).toBe(9)
    expect(body.usage.completion_tokens_details.reasoning_tokens).toBe(1)
    const messages = [{ role: 'user', content: freshPrompt('[[think:hm]]') }]
    const { text } = await post('/v1/chat/completions', { messages, stream: true })
    const thoughts = readFrames(text).flatMap(({ data }) => data.choices?.[0]?.delta ?? [])
    expect(thoughts.filter(({ reasoning }) => reasoning)).toEqual([{ reasoning_content: 'hm', reasoning: 'hm' }])
    const hidden = await chat('[[think:hm]]', { reasoning: { exclude: true } })
    expect(hidden.body.choices[0].message.reasoning).toBeUndefined()
  })

  test('cached tokens are never more than the prompt', async () => {
    expect((await chat('[[cached:999]]')).body.usage.prompt_tokens_details.cached_tokens).toBe(11)
  })
})

describe('how likely the tokens of an answer were, read with the openai package (docs/api.md 33.2, 33.4)', async () => {
  const { world: likely, upstream: engine } = await createUpstreamWorld({ upstream: { dialect: likelyDialect } })
  const person = await likely.person()
  const at = (base: string) => new OpenAI({ baseURL: listen(likely).origin + base, apiKey: person.key, maxRetries: 0 })
  const openai = at('/v1')
  const model = 'svc-1-flash'
  const ask = (words: string, more: object = {}) => ({
    ...{ model, messages: [{ role: 'user' as const, content: freshPrompt(words) }], ...more },
  })
  const likelihood = (tokens: string[]) => tokens.map((token) => expect.objectContaining({ token, logprob: -0.5 }))
  const asks = { logprobs: true, top_logprobs: 2 }
  const include: ['message.output_text.logprobs'] = ['message.output_text.logprobs']

  test('is in a chat, plain and streamed, with the build of the engine hashed', async () => {
    const plain = await openai.chat.completions.create(ask('[[say:one two]]', asks))
    expect(plain.choices[0]!.logprobs).toEqual({ content: likelihood(['one', ' two']), refusal: null })
    expect(engine.calls.at(-1)!.body).toMatchObject(asks)
    expect(plain.service_tier).toBe('default')
    expect(plain.system_fingerprint).toMatch(/^fp_\w{12}$/)
    const streamed = await openai.chat.completions.stream(ask('[[say:one two]]', asks)).finalChatCompletion()
    expect(streamed.choices[0]!.logprobs?.content).toEqual(likelihood(['one', ' two']))
    expect(streamed.system_fingerprint).toBe(plain.system_fingerprint)
    expect(JSON.stringify([plain, streamed])).not.toContain(BUILD)
  })

  test('ends where a text of "stop" ends the answer', async () => {
    const request = ask('[[say:one two THE END three]]', { ...asks, stop: ['THE END'] })
    const plain = await openai.chat.completions.create(request)
    const streamed = await openai.chat.completions.stream(request).finalChatCompletion()
    for (const { choices } of [plain, streamed])
      expect(choices[0]!.logprobs?.content).toEqual(likelihood(['one', ' two']))
  })

  test('is absent where nobody asked, and ignored where the specification says so', async () => {
    expect((await openai.chat.completions.create(ask('[[say:one two]]'))).choices[0]).not.toHaveProperty('logprobs')
    const streamed = await openai.chat.completions.stream(ask('[[say:one two]]')).finalChatCompletion()
    expect(streamed.choices[0]!.logprobs?.content ?? null).toBeNull()
    const ignoring = await at('/api/v1').chat.completions.create(ask('[[say:one two]]', asks))
    expect(ignoring.choices[0]).not.toHaveProperty('logprobs')
  })

  test('is null with a warning where the engine gives none, plain and streamed', async () => {
    const { body } = await chat('hi', asks)
    const warnings = ['"logprobs" is null, because the engine gave none.']
    expect({ logprobs: body.choices[0].logprobs, warnings: body.svc_metadata.warnings }).toEqual({
      logprobs: null,
      warnings,
    })
    const { text } = await post('/v1/chat/completions', ask('hi', { ...asks, stream: true }))
    const last = readFrames(text).at(-2)?.data
    expect(last).toMatchObject({ svc_metadata: { warnings } })
    expect(last).not.toHaveProperty('system_fingerprint')
    const messages = [{ role: 'user', content: 'Hello' }]
    const own = await builtin.send('POST', '/v1/chat/completions', { messages, ...asks, prompt_cache_key: 'mine' })
    expect(own.body.choices[0].logprobs).toBeNull()
    expect(own.body.svc_metadata.warnings).toEqual([
      'Ignored, because the engine does not have these settings: logprobs.',
    ])
  })

  test.each(['block', 'redact', 'flag'])('never tells what a guardrail took out: %s', async (verdict) => {
    const eve = await likely.person()
    await under(eve, [onTerms('output', verdict, ['kraken'])])
    for (const stream of [false, true]) {
      const { text } = await eve.send(
        'POST',
        '/v1/chat/completions',
        ask('[[say:the kraken sleeps]]', { ...asks, stream }),
      )
      expect({ stream, tells: text.includes('"token":" kraken"') }).toEqual({ stream, tells: verdict === 'flag' })
      const response = await eve.send('POST', '/v1/responses', {
        ...{ model, include, stream, input: freshPrompt('[[say:the kraken sleeps]]') },
      })
      expect(response.status).toBe(200)
      if (verdict !== 'flag') expect(response.text).not.toContain('"token":" kraken"')
    }
  })

  test('comes with its text where a guardrail reads along, and ends where that takes a word out', async () => {
    const eve = await likely.person()
    await under(eve, [onTerms('output', 'redact', ['kraken'])])
    const many = Array.from({ length: 200 }, (_, at) => `word${at}`)
    for (const [words, changed] of [
      [many, false],
      [[...many, 'kraken', ...many], true],
    ] as const) {
      const order = ask(`[[slow:1]] [[say:${words.join(' ')}]]`, { ...asks, stream: true })
      const { text } = await eve.send('POST', '/v1/chat/completions', order)
      const choices = readFrames(text).flatMap(({ data }) => (data === '[DONE]' ? [] : data.choices))
      const pieces = choices.filter(({ logprobs }) => logprobs)
      for (const { delta } of pieces) expect(delta.content).not.toBe('')
      const tokens = pieces.map(({ logprobs }) =>
        logprobs.content.map(({ token }: { token: string }) => token).join(''),
      )
      expect(pieces.length).toBeGreaterThan(2)
      // A piece has them once all of it is shown, never before.
      let shown = 0
      let counted = 0
      for (const [at, { delta }] of pieces.entries()) {
        shown += delta.content.length
        counted += tokens[at]!.length
        expect(shown).toBeGreaterThanOrEqual(counted)
      }
      if (changed) expect(text).not.toContain('"token":" kraken"')
      else expect(tokens.join('')).toBe(words.join(' '))
    }
  })

  test('is in a response, plain, streamed and read again', async () => {
    const request = () => ({ ...{ model, input: freshPrompt('[[say:one two]]'), include, top_logprobs: 2 } })
    const plain = await openai.responses.create({ ...request(), prompt_cache_key: 'mine', service_tier: 'flex' })
    const partOf = ({ output }: Pick<OpenAI.Responses.Response, 'output'>) =>
      output[0]?.type === 'message' ? output[0].content[0] : undefined
    const words = { type: 'output_text', text: 'one two', logprobs: likelihood(['one', ' two']) }
    expect(partOf(plain)).toMatchObject(words)
    expect(plain.service_tier).toBe('default')
    expect(engine.calls.at(-1)!.body).toMatchObject({ ...asks, prompt_cache_key: 'mine' })
    expect(partOf(await openai.responses.retrieve(plain.id))).toMatchObject(words)
    const deltas: unknown[] = []
    const stream = openai.responses.stream(request())
    stream.on('response.output_text.delta', ({ logprobs }) => void deltas.push(...logprobs))
    expect(partOf(await stream.finalResponse())).toMatchObject(words)
    expect(deltas).toEqual(likelihood(['one', ' two']))
    const without = await openai.responses.create({ model, input: freshPrompt('[[say:one two]]') })
    expect(partOf(without)).toMatchObject({ text: 'one two', logprobs: [] })
  })

  test.each([
    ['top_logprobs', 21],
    ['prompt_cache_key', 'k'.repeat(513)],
  ])('%s of a response out of bounds is refused', async (name, value) => {
    const { status, body } = await person.send('POST', '/v1/responses', { input: 'Hello', [name]: value })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: name })
  })
})

describe('what the engine does not have (docs/api.md 33.6.26)', () => {
  test.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], top_p: 0.5 }],
    ['/v1/responses', { input: 'Hello', top_p: 0.5 }],
    ['/v1/messages', { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50, top_p: 0.5 }],
  ])('is named in a header, plain and streamed: %s', async (path, body) => {
    for (const stream of [false, true]) {
      const { status, headers } = await builtin.send('POST', path, { ...body, stream })
      expect({ status, ignored: headers.get('x-svc-ignored') }).toEqual({ status: 200, ignored: 'top_p' })
    }
  })

  test('may be named in words that no header holds', async () => {
    const include = ['größe', '→', 'a\r\nset-cookie: b', ...Array(20).fill('x'.repeat(100))]
    for (const stream of [false, true]) {
      const { status, headers } = await builtin.send('POST', '/v1/responses', { input: 'Hello', include, stream })
      const named = headers.get('x-svc-ignored') ?? ''
      expect({ status, head: named.slice(0, 60), length: named.length, cookie: headers.get('set-cookie') }).toEqual({
        ...{ status: 200, length: 1_024, cookie: null },
        head: 'include gr??e, include ?, include a??set-cookie: b, include ',
      })
    }
  })
})

describe('thoughts in tags at the head of an answer (docs/api.md 33.4)', () => {
  const words = '[[say:<think>Two and two.</think>  Four.]]'

  test('are reasoning, plain and streamed', async () => {
    const { body } = await chat(words)
    expect(body.choices[0].message).toMatchObject({ content: 'Four.', reasoning_content: 'Two and two.' })
    const { text } = await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: freshPrompt(words) }],
      stream: true,
    })
    const deltas = readFrames(text)
      .map(({ data }) => data.choices?.[0]?.delta ?? {})
      .reduce(
        (all, { content = '', reasoning = '' }) => ({
          content: all.content + content,
          thoughts: all.thoughts + reasoning,
        }),
        { content: '', thoughts: '' },
      )
    expect(deltas).toEqual({ content: 'Four.', thoughts: 'Two and two.' })
  })

  test.each([['<thin air'], ['a <think>b</think>'], ['1 < 2']])('other text stays: %s', async (words) => {
    expect((await chat(`[[say:${words}]]`)).body.choices[0].message.content).toBe(words)
  })
})

test('a prompt that is too long has the code that clients know, but for the address of the specification', async () => {
  const long = { messages: [{ role: 'user', content: '漢'.repeat(400_000) }] }
  expect(JSON.parse((await post('/v1/chat/completions', long)).text).error.code).toBe('context_length_exceeded')
  expect(JSON.parse((await post('/api/v1/chat/completions', long)).text).error.code).toBe('validation_error')
})

test.each([
  ['/v1/responses/compact', 'truncation'],
  ['/v1/messages/batches', '/batches'],
  ['/api/v1/threads/thread_1/messages', '/responses'],
  ['/api/v1/vector_stores', '/embeddings'],
])('%s is not served, and names the nearest API', async (path, word) => {
  const { status, text } = await post(path, {})
  expect(status).toBe(404)
  expect(text).toContain(word)
})

test('a WebSocket upgrade is refused with a clear message', async () => {
  const { status, body } = await ada.send('GET', '/v1/responses', undefined, { upgrade: 'websocket' })
  expect({ status, code: body.error.code }).toEqual({ status: 426, code: 'validation_error' })
})

describe('whether parameters count is said by the key, then by the operator, then by the base (docs/api.md 33.1)', async () => {
  const [LETTER, CLIENTS] = ['/api/v1/chat/completions', '/v1/chat/completions'] as const
  const personWhere = async (chatParameters: ChatParameters) =>
    (await createWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted', chatParameters } })).person()
  const people = {
    by_base: await personWhere('by_base'),
    honor: await personWhere('honor'),
    ignore: await personWhere('ignore'),
  }

  test.each([
    ['by_base', 'by_base', LETTER, false],
    ['by_base', 'by_base', CLIENTS, true],
    ['by_base', 'honor', LETTER, true],
    ['by_base', 'honor', CLIENTS, true],
    ['by_base', 'ignore', LETTER, false],
    ['by_base', 'ignore', CLIENTS, false],
    ['honor', 'by_base', LETTER, true],
    ['honor', 'ignore', LETTER, false],
    ['honor', 'ignore', CLIENTS, false],
    ['ignore', 'by_base', CLIENTS, false],
    ['ignore', 'honor', LETTER, true],
    ['ignore', 'honor', CLIENTS, true],
  ] as const)('SVC_CHAT_PARAMETERS=%s, the key %s, %s: %p', async (standard, chat_parameters, path, counts) => {
    const person = people[standard]
    const changed = await person.send('PUT', `keys/${person.keyId}`, { chat_parameters })
    expect(changed.body).toMatchObject({ chat_parameters })
    for (const stream of [false, true]) {
      const messages = [
        { role: 'user', content: freshPrompt('[[say:one two THE END three]]') },
        { role: 'tool', tool_call_id: 'call_1', content: 'It is 7.' },
      ]
      const order = { ...{ model: 'svc-1-flash', messages, stream }, top_p: 0.5, stop: 'THE END' }
      const { status, text, headers } = await person.send('POST', path, order)
      const sent = upstream.calls.at(-1)!.body
      const [answer, ...frames] = stream ? readFrames(text) : [{ data: JSON.parse(text) }]
      const content = stream ? joinDeltas([answer!, ...frames] as Frame[]) : answer!.data.choices[0].message.content
      const { warnings = [] } = (stream ? frames.at(-2)! : answer!).data.svc_metadata
      expect({
        ...{ stream, status, content, top_p: sent.top_p, ignored: headers.get('x-svc-ignored') },
        names: warnings.filter((one: string) => one.startsWith('Ignored: stop, top_p. They count under')).length,
        // As the base, whatever the key says.
        read: JSON.stringify(sent.messages).includes('Result of a tool: It is 7.'),
      }).toEqual({
        ...{ stream, status: 200, content: counts ? 'one two ' : 'one two THE END three' },
        ...{ top_p: counts ? 0.5 : undefined, ignored: counts ? null : 'stop, top_p', names: counts ? 0 : 1 },
        read: path === CLIENTS,
      })
    }
    expect((await person.send('POST', path, { messages: [{ role: 'user', content: 'Hello' }], top_p: 2 })).status).toBe(
      counts ? 400 : 200,
    )
  })

  test.each(['/v1/responses', '/v1/messages'])('%s honors them with every key', async (path) => {
    const person = people.by_base
    await person.send('PUT', `keys/${person.keyId}`, { chat_parameters: 'ignore' })
    const content = freshPrompt()
    const order = { input: content, messages: [{ role: 'user', content }], max_tokens: 50, top_p: 0.5 }
    expect((await person.send('POST', path, { model: 'svc-1-flash', ...order })).status).toBe(200)
    expect(upstream.calls.at(-1)!.body.top_p).toBe(0.5)
  })

  test('of a new key, and refused for another word', async () => {
    const person = people.by_base
    const made = await person.send('POST', 'keys', { chat_parameters: 'honor' })
    expect(made).toMatchObject({ status: 201, body: { chat_parameters: 'honor' } })
    for (const [method, path] of [
      ['POST', 'keys'],
      ['PUT', `keys/${person.keyId}`],
    ] as const)
      expect(await person.send(method, path, { chat_parameters: 'never' })).toMatchObject({
        ...{ status: 400, body: { error: { code: 'validation_error', param: 'chat_parameters' } } },
      })
  })
})
