// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { errorFormatOf } from '../../src/compat/routes-messages'
import { AppError, type ErrorCode } from '../../src/kernel/errors'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { impatiently } from '../support/impatiently'
import { PIXEL } from '../support/pixel'
import { typeOf } from '../support/refusals'
import type { Person, PersonInput, Reply } from '../support/world'

const clock = fakeClock()
const { world, upstream } = await createUpstreamWorld({ clock, config: { voiceUrl: 'https://voice.example' } })
const ada = await world.person()
const refusalOf = (is: string) => {
  const [status, code] = is.split(' ') as [string, string]
  return { status: Number(status), code, type: typeOf(Number(status)) }
}
const CHAT = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 }

const post = (path: string, body: string, type = 'application/json') =>
  world.app.api.handle(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': type, 'content-length': `${body.length}` },
      body,
    }),
  )

describe('what is wrong is named by its member, plain and streamed', () => {
  const id = crypto.randomUUID()
  const server = { type: 'url', name: 'one', url: 'https://tools.example/mcp' }
  const withServers = (...mcp_servers: object[]) => ({ ...CHAT, mcp_servers })
  const FUNCTION = { type: 'function', function: { name: 'look' } }
  const ofTools = { type: 'mcp', server_label: 'a', server_url: 'nope' }

  test.each([
    ['/completions', { prompt: 'Hello', conversation_id: id }, 404, 'conversation_id'],
    ['/chat/completions', { ...CHAT, conversation_id: id }, 404, 'conversation_id'],
    ['/messages', { ...CHAT, conversation_id: id }, 404, 'conversation_id'],
    ['/responses', { input: 'Hello', conversation_id: id }, 404, 'conversation_id'],
    ['/responses', { input: 'Hello', conversation: id }, 404, 'conversation'],
    ['/responses', { input: 'Hello', conversation: { id } }, 404, 'conversation'],
    ['/responses', { input: 'Hello', previous_response_id: id }, 404, 'previous_response_id'],
    ['/keys', { org_id: id }, 404, 'org_id'],
    ['/voice/token', { conversation_id: id }, 404, 'conversation_id'],
    ['/messages', withServers(server, { ...server, name: 'two', url: 'nope' }), 400, 'mcp_servers[1].url'],
    ['/messages', withServers({ ...server, url: 'http://u:p@tools.example' }), 400, 'mcp_servers[0].url'],
    ['/messages', withServers({ ...server, url: undefined }), 400, 'mcp_servers[0].url'],
    ['/messages', withServers({ ...server, authorization_token: 'a\nb' }), 400, 'mcp_servers[0].authorization_token'],
    ['/messages', withServers(server, server), 400, 'mcp_servers[1]'],
    ['/messages', withServers(server, { ...server, name: '' }), 400, 'mcp_servers[1].name'],
    ['/chat/completions', { ...CHAT, tools: [FUNCTION], tool_choice: 'zzz' }, 400, 'tool_choice'],
    ['/chat/completions', { ...CHAT, tools: [FUNCTION], tool_choice: { type: 'zzz' } }, 400, 'tool_choice.type'],
    ['/messages', withServers(...Array.from({ length: 5 }, () => server)), 400, 'mcp_servers'],
    ['/responses', { input: 'Hello', tools: [ofTools] }, 400, 'tools[0].server_url'],
    ['/chat/completions', { ...CHAT, tools: [ofTools] }, 400, 'tools[0].server_url'],
  ])('POST %s %j: %d %s', async (path, order, status, param) => {
    for (const stream of /voice|keys/.test(path) ? [undefined] : [false, true]) {
      const reply = await ada.send('POST', `/api/v1${path}`, { ...order, stream })
      const { error } = reply.body
      const named = error.param ?? error.details.param
      expect({ stream, status: reply.status, param: named }).toEqual({ stream, status, param })
      if (path === '/messages') expect(error.message).not.toContain('"tools"')
    }
  })
})

test('an id in the path is no member: GET /conversations/{id}', async () => {
  const { status, body } = await ada.send('GET', `conversations/${crypto.randomUUID()}`)
  expect({ status, param: body.error.param }).toEqual({ status: 404, param: undefined })
})

describe('the errors of every API (docs/api.md 29.10, 30.5, 33.6.18)', () => {
  const ORDERS = {
    chat: (content: string) => ['/v1/chat/completions', { messages: [{ role: 'user', content }] }],
    responses: (input: string) => ['/v1/responses', { input }],
    messages: (content: string) => ['/v1/messages', { messages: [{ role: 'user', content }], max_tokens: 50 }],
    embeddings: (input: string) => ['/v1/embeddings', { input }],
  } satisfies Record<string, (words: string) => [string, object]>
  type Api = keyof typeof ORDERS
  const ALL = Object.keys(ORDERS) as Api[]
  const ANSWERING = ALL.filter((api) => api !== 'embeddings')
  const order = (api: Api, words = freshPrompt()) => ORDERS[api](words) as [string, object]
  const as = async (input: PersonInput, api: Api) => (await world.person(input)).send('POST', ...order(api))
  const twice = async (person: Person, api: Api, headers: Record<string, string> = {}) => {
    await person.send('POST', ...order(api), headers)
    return person.send('POST', ...order(api), headers)
  }

  type Answer = { status: number; headers: Headers; text: string | (() => Promise<string>) }
  type Row = [
    what: string,
    apis: Api[],
    send: (api: Api) => Promise<Answer> | Answer,
    /** Status and code. */
    is: string,
    ofMessages?: { status?: number; type?: string },
  ]
  const INVALID = 'invalid_request_error'
  const rows: Row[] = [
    ['a body without members', ALL, (api) => ada.send('POST', order(api)[0], {}), '400 validation_error'],
    [
      'a prompt longer than the window',
      ALL,
      (api) => ada.send('POST', ...order(api, '漢'.repeat(400_000))),
      '400 context_length_exceeded',
    ],
    ['no key', ALL, (api) => world.send('POST', ...order(api)), '401 invalid_api_key'],
    ['no credit', ANSWERING, (api) => as({ cents: 0 }, api), '402 insufficient_credits'],
    ['another scope', ALL, (api) => as({ scopes: ['tools'] }, api), '403 missing_scope'],
    [
      'an unknown conversation',
      ANSWERING,
      (api) => {
        const [path, body] = order(api)
        return ada.send('POST', path, { ...body, conversation_id: crypto.randomUUID() })
      },
      '404 not_found',
    ],
    [
      'an unknown previous response',
      ['responses'],
      () => ada.send('POST', '/v1/responses', { input: 'Hello', previous_response_id: `resp_${'a'.repeat(24)}` }),
      '404 previous_response_not_found',
    ],
    ['another method', ALL, (api) => ada.send('PUT', ...order(api)), '405 method_not_allowed'],
    [
      'an Idempotency-Key of another body',
      ALL,
      (api) => twice(ada, api, { 'idempotency-key': `once-${api}` }),
      '409 idempotency_conflict',
      { type: INVALID },
    ],
    [
      'a body that is too large',
      ALL,
      (api) => post(order(api)[0], `{"input":"${'x'.repeat(60_000_000)}"}`),
      '413 payload_too_large',
      { type: 'request_too_large' },
    ],
    [
      'a form',
      ALL,
      (api) => post(order(api)[0], 'a=b', 'application/x-www-form-urlencoded'),
      '415 unsupported_media_type',
    ],
    [
      'more requests than the key may send',
      ALL,
      async (api) => {
        const person = await world.person()
        const { body } = await (await world.signedIn(person)).send('POST', 'keys', { rpm_limit: 1 })
        return twice(person, api, { authorization: `Bearer ${body.key}` })
      },
      '429 rate_limit_exceeded',
    ],
    [
      'an engine that does not answer in time',
      ANSWERING,
      async (api) => {
        const before = upstream.calls.length
        const waiting = ada.send('POST', ...order(api, freshPrompt('[[hang]]')))
        await eventually(() => upstream.calls.length > before)
        clock.advance(120_000)
        return waiting
      },
      '504 request_timeout',
      { type: 'timeout_error' },
    ],
    // The last one: afterwards the engine counts as down.
    [
      'an engine that is down',
      ANSWERING,
      (api) => impatiently(clock, ada.send('POST', ...order(api, freshPrompt('[[drop]]')))),
      '503 engine_unavailable',
      { status: 529, type: 'overloaded_error' },
    ],
  ]
  const table = rows.flatMap(([what, apis, ...row]) => apis.map((api) => [what, api, ...row] as const))

  test.each(table)('%s: %s', async (_what, api, send, is, ofMessages = {}) => {
    const { status, code, type } = refusalOf(is)
    const answer = await send(api)
    const body = JSON.parse(typeof answer.text === 'string' ? answer.text : await answer.text())
    const isMessages = api === 'messages'
    const wanted = isMessages ? { status, type, code, ...ofMessages } : { status, type, code }
    // Contract 30.5 says how the message begins, and names no code.
    if (isMessages && code === 'context_length_exceeded') wanted.code = 'validation_error'
    const { error } = body
    const found = { status: answer.status, type: error.type, code: isMessages ? error.details.error_code : error.code }
    expect(found).toEqual(wanted)
    expect(isMessages ? body : error).toMatchObject({ request_id: expect.stringMatching(/^req_/) })
    if (code === 'context_length_exceeded')
      expect(error.message).toMatch(
        isMessages
          ? /^prompt is too long: \d+ tokens > \d+ maximum/
          : /^This model's maximum context length is \d+ tokens\. However, .*\d+ tokens/,
      )
    expect({
      final: answer.headers.get('x-should-retry') === 'false',
      waits: Number(answer.headers.get('retry-after')) > 0,
    }).toEqual({ final: status < 500 && status !== 429, waits: status === 429 || status === 503 })
  })

  test.each<[code: ErrorCode, status: number, type: string]>([
    ['review_failed', 422, INVALID],
    ['server_error', 500, 'api_error'],
    ['browser_unconfigured', 501, 'api_error'],
    ['stt_provider_error', 502, 'api_error'],
    ['service_unavailable', 529, 'overloaded_error'],
    ['storage_unavailable', 503, 'api_error'],
    ['stt_unavailable', 503, 'api_error'],
  ])('of /messages, where no order leads to it: %s', (code, status, type) => {
    const [face, error] = [errorFormatOf('/api/v1/messages')!, new AppError(code, 'Words.')]
    expect({ status: face.statusOf(error), body: face.bodyOf(error, 'req_1') }).toEqual({
      status,
      body: {
        ...{ type: 'error', request_id: 'req_1' },
        error: { type, message: 'Words.', details: { error_code: code, param: null } },
      },
    })
  })
})

describe('the errors of the APIs that run no completion (docs/api.md 29.10)', () => {
  type Order = { method?: string; path: string; json?: object; form?: () => FormData }
  const form = (files: Record<string, Blob>, fields: Record<string, string>) => () => {
    const made = new FormData()
    for (const [name, value] of Object.entries(fields)) made.set(name, value)
    for (const [name, file] of Object.entries(files)) made.set(name, file, `${name}.bin`)
    return made
  }
  const sound = new Blob([Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=', 'base64')])
  const unknownFile = `file-${'a'.repeat(24)}`
  const ORDERS = {
    images: { path: '/v1/images/generations', json: { prompt: 'a pixel' } },
    edits: {
      path: '/v1/images/edits',
      form: form({ image: new Blob([Buffer.from(PIXEL, 'base64')]) }, { prompt: 'a pixel' }),
    },
    speech: { path: '/v1/audio/speech', json: { input: 'Hello', voice: 'alloy', model: 'tts-1' } },
    transcriptions: { path: '/v1/audio/transcriptions', form: form({ file: sound }, { model: 'whisper-1' }) },
    translations: { path: '/v1/audio/translations', form: form({ file: sound }, { model: 'whisper-1' }) },
    files: { path: '/v1/files', form: form({ file: new Blob(['{}']) }, { purpose: 'batch' }) },
    batches: {
      path: '/v1/batches',
      json: { input_file_id: unknownFile, endpoint: '/v1/chat/completions', completion_window: '24h' },
    },
    moderations: { path: '/v1/moderations', json: { input: 'Hello' } },
    models: { method: 'GET', path: '/v1/models' },
  } satisfies Record<string, Order>
  type Api = keyof typeof ORDERS
  const ALL = Object.keys(ORDERS) as Api[]
  const inJson = ALL.filter((api) => 'json' in ORDERS[api])

  const call = (
    by: Pick<Person, 'send'>,
    { method = 'POST', path, json, form }: Order,
    headers?: Record<string, string>,
  ) => by.send(method, path, form?.() ?? json, headers)
  const as = async (input: PersonInput, api: Api) => call(await world.person(input), ORDERS[api])
  const read = (path: string) => call(ada, { method: 'GET', path })

  type Row = [
    what: string,
    apis: Api[],
    send: (api: Api) => Promise<Reply | Response> | Response,
    /** Status and code. */
    is: string,
    param?: string,
  ]
  const rows: Row[] = [
    [
      'a body without members',
      ['batches', 'moderations'],
      (api) => call(ada, { ...ORDERS[api], json: {} }),
      '400 validation_error',
    ],
    [
      'a form without its file',
      ['transcriptions', 'translations'],
      (api) => call(ada, { ...ORDERS[api], form: form({}, { other: 'x' }) }),
      '400 missing_file',
    ],
    ['no prompt', ['images'], (api) => call(ada, { ...ORDERS[api], json: {} }), '400 missing_prompt'],
    ['no text', ['speech'], (api) => call(ada, { ...ORDERS[api], json: { voice: 'alloy' } }), '400 missing_text'],
    [
      'a form without parts',
      ['edits', 'files'],
      (api) => call(ada, { ...ORDERS[api], form: form({}, { other: 'x' }) }),
      '400 validation_error',
    ],
    ['no key', ALL, (api) => call(world, ORDERS[api]), '401 invalid_api_key'],
    [
      'a key of nobody',
      ALL,
      (api) => call(world, ORDERS[api], { authorization: 'Bearer svc_sk_live_x' }),
      '401 invalid_api_key',
    ],
    ['another scope', ALL, (api) => as({ scopes: ['tools'] }, api), '403 missing_scope'],
    ['an unknown file', ['batches'], (api) => call(ada, ORDERS[api]), '404 not_found', 'input_file_id'],
    ['an unknown id', ['files'], () => read(`/v1/files/${unknownFile}`), '404 not_found'],
    ['an unknown id', ['files'], () => read(`/v1/files/${unknownFile}/content`), '404 not_found'],
    ['an unknown id', ['batches'], () => read(`/v1/batches/batch_${'a'.repeat(24)}`), '404 not_found'],
    ['an unknown id', ['models'], () => read('/v1/models/nobody'), '404 not_found'],
    [
      'another method',
      ALL,
      (api) => call(ada, { path: ORDERS[api].path, method: 'PATCH', json: {} }),
      '405 method_not_allowed',
    ],
    [
      'an Idempotency-Key of another body',
      ['images'],
      async () => {
        const key = { 'idempotency-key': 'once-images' }
        await call(ada, ORDERS.images, key)
        return call(ada, { ...ORDERS.images, json: { prompt: 'two pixels' } }, key)
      },
      '409 idempotency_conflict',
    ],
    [
      'a body that is too large',
      inJson,
      (api) => call(ada, { ...ORDERS[api], json: { input: 'x'.repeat(60_000_000) } }),
      '413 payload_too_large',
    ],
    [
      'another type of body',
      ALL.filter((api) => api !== 'models'),
      (api) => post(ORDERS[api].path, 'prompt=x', 'application/x-www-form-urlencoded'),
      '415 unsupported_media_type',
    ],
    [
      'more requests than the key may send',
      ALL,
      async (api) => {
        const { body } = await (await world.signedIn(await world.person())).send('POST', 'keys', { rpm_limit: 1 })
        const headers = { authorization: `Bearer ${body.key}` }
        await call(world, ORDERS.models, headers)
        return call(world, ORDERS[api], headers)
      },
      '429 rate_limit_exceeded',
    ],
    [
      'no credit',
      ['batches'],
      async () => {
        const poor = await world.person({ cents: 0 })
        const { id } = (await call(poor, ORDERS.files)).body
        return call(poor, { ...ORDERS.batches, json: { ...ORDERS.batches.json, input_file_id: id } })
      },
      '402 insufficient_credits',
    ],
    ['no engine', ['edits'], (api) => call(ada, ORDERS[api]), '503 engine_unavailable'],
    ['no engine', ['transcriptions', 'translations'], (api) => call(ada, ORDERS[api]), '503 stt_unavailable'],
  ]
  const table = rows.flatMap(([what, apis, ...row]) => apis.map((api) => [what, api, ...row] as const))

  test.each(table)('%s: %s', async (_what, api, send, is, param = '') => {
    const { status, code, type } = refusalOf(is)
    const answer = await send(api)
    const { status: found, headers } = answer
    const { error } = JSON.parse(typeof answer.text === 'string' ? answer.text : await answer.text())
    expect({ found, type: error.type, code: error.code }).toEqual({ found: status, type, code })
    expect(error).toMatchObject({ message: expect.any(String), request_id: headers.get('x-request-id') })
    if (param) expect(error.param).toBe(param)
    expect({
      final: headers.get('x-should-retry') === 'false',
      waits: Number(headers.get('retry-after')) > 0,
    }).toEqual({
      // An engine that is not there is not there a second later.
      final: (status < 500 && status !== 429) || code === 'stt_unavailable',
      waits: status === 429 || status === 503,
    })
  })
})
