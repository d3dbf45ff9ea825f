// SQLite only: parameters go to the engine, which no database sees.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { joinDeltas, readFrames } from '../support/frames'
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
}

describe('parameters of chat clients (contract 33.2)', () => {
  test('go to the engine from the addresses where clients expect it', async () => {
    const { status, body, sent } = await chat('hi', { ...PARAMETERS, max_completion_tokens: 40, stop: 'END' })
    expect(status).toBe(200)
    expect(sent).toMatchObject({ ...PARAMETERS, max_tokens: 40, stop: ['END'] })
    expect(body.svc_metadata.warnings).toBeUndefined()
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
  })

  test('the answer ends before a text of "stop", plain and in pieces', async () => {
    const { body } = await chat('[[say:one two THE END three]]', { stop: ['THE END'] })
    expect(body.choices[0]).toMatchObject({ message: { content: 'one two ' }, finish_reason: 'stop' })
    const { text } = await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: freshPrompt('[[say:one two THE END three]]') }],
      stop: ['never', 'THE END'],
      stream: true,
    })
    expect(joinDeltas(readFrames(text))).toBe('one two ')
  })

  test('what may begin a text of "stop" and does not is said at the end', async () => {
    const { text } = await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: freshPrompt('[[say:all of THE]]') }],
      stop: ['THE END'],
      stream: true,
    })
    expect(joinDeltas(readFrames(text))).toBe('all of THE')
  })

  test('an output limit cuts the answer and is what money is held for', async () => {
    const { body } = await chat('[[tokens:400]]', { max_tokens: 20 })
    expect(body.choices[0].finish_reason).toBe('length')
    expect(body.choices[0].message.content.length).toBeLessThan(400)
  })

  test('an order with an output limit is always answered with text', async () => {
    const { body } = await chat('Draw a picture of a cat', { model: 'auto', max_tokens: 20 })
    expect(body.svc_metadata.resolved_mode).not.toBe('image')
  })
})

describe('what an answer tells (contract 33.4)', () => {
  test('thoughts by both names, unless they are not wanted', async () => {
    const { body } = await chat('[[think:hm]] [[cached:9]]')
    expect(body.choices[0].message).toMatchObject({ reasoning: 'hm', reasoning_content: 'hm' })
    expect(body.usage.prompt_tokens_details.cached_tokens).toBe(9)
    expect(body.usage.completion_tokens_details.reasoning_tokens).toBe(1)
    const hidden = await chat('[[think:hm]]', { reasoning: { exclude: true } })
    expect(hidden.body.choices[0].message.reasoning).toBeUndefined()
  })

  test('cached tokens are never more than the prompt', async () => {
    expect((await chat('[[cached:999]]')).body.usage.prompt_tokens_details.cached_tokens).toBe(11)
  })
})

describe('what the engine does not have', () => {
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
})

describe('thoughts in tags at the head of an answer (contract 33.4)', () => {
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
])('%s is not served, and names the nearest door', async (path, word) => {
  const { status, text } = await post(path, {})
  expect(status).toBe(404)
  expect(text).toContain(word)
})

test('a WebSocket is told that there is none', async () => {
  const { status, body } = await ada.send('GET', '/v1/responses', undefined, { upgrade: 'websocket' })
  expect({ status, code: body.error.code }).toEqual({ status: 426, code: 'validation_error' })
})

test.each([
  ['honor', '/api/v1/chat/completions', 0.5],
  ['ignore', '/v1/chat/completions', undefined],
] as const)('SVC_CHAT_PARAMETERS=%s counts at every address', async (chatParameters, path, top_p) => {
  const other = await createWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted', chatParameters } })
  const person = await other.person()
  const messages = [{ role: 'user', content: freshPrompt() }]
  expect((await person.send('POST', path, { model: 'svc-1-flash', messages, top_p: 0.5 })).status).toBe(200)
  expect(upstream.calls.at(-1)!.body.top_p).toBe(top_p)
})
