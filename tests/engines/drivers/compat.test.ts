import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import { createCallJoiner, readWrittenCalls } from '../../../src/engines/drivers/compat-calls'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { createStreamReader, readAnswer } from '../../../src/engines/drivers/compat-from-wire'
import { type Driver, EngineFailure, type EnginePart, type EngineRequest } from '../../../src/engines/engine'
import { Collector } from '../../../src/engines/meter'
import { type Clock, systemClock } from '../../../src/kernel/clock'
import { collect, engineSuite, plain, request, streamed, textOf, upstreamSuite } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { effortOf } from '../../support/effort'
import { eventually } from '../../support/eventually'
import { startUpstream } from '../../support/upstream'
import { messagesDialect } from '../../support/upstream/vendors'

const upstream = await startUpstream()
const options = { baseUrl: `${upstream.url}/`, apiKey: 'sk-test', outputLimitField: 'max_tokens', clock: fakeClock() }
const driver = createCompatDriver(options)
const impatient = createCompatDriver({ ...options, clock: systemClock, silenceMs: 150 })

engineSuite('compat', driver, 'Hello')

describe('compat on the wire', () => {
  test('sends what chat-completions servers expect, and nothing else', async () => {
    upstream.reset()
    await plain(driver, request('Hi', { temperature: 0.3, maxOutputTokens: 77 }))
    expect(upstream.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test' },
      body: {
        model: 'scripted-model',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
        stream: false,
        max_tokens: 77,
        temperature: 0.3,
      },
    })
  })

  test('asks a stream for its usage', async () => {
    upstream.reset()
    const parts = await collect(streamed(driver, request('Hi')))
    expect(upstream.calls[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(parts.find((part) => part.type === 'usage')).toEqual({
      type: 'usage',
      promptTokens: 11,
      completionTokens: 5,
    })
  })

  test('names the limit as the server wants it', async () => {
    upstream.reset()
    const other = createCompatDriver({ ...options, outputLimitField: 'max_completion_tokens' })
    await plain(other, request('Hi', { maxOutputTokens: 5 }))
    expect(upstream.calls[0]!.body).toMatchObject({ max_completion_tokens: 5 })
    expect(upstream.calls[0]!.body).not.toHaveProperty('max_tokens')
  })

  test.each([
    ['gpt-5-mini', undefined, 'max_completion_tokens'],
    ['openai/o3', undefined, 'max_completion_tokens'],
    ['gpt-5-mini', 'max_tokens', 'max_tokens'],
    ['gpt-4o', undefined, 'max_tokens'],
    ['olmo-2', undefined, 'max_tokens'],
  ])('names the limit of %s, set to %s, as %s', async (model, outputLimitField, field) => {
    upstream.reset()
    await plain(createCompatDriver({ ...options, outputLimitField }), request('Hi', { model, maxOutputTokens: 5 }))
    const { max_tokens, max_completion_tokens } = upstream.calls[0]!.body
    expect({ max_tokens, max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      [field]: 5,
    })
  })

  test('asks for JSON with the schema it was given', async () => {
    upstream.reset()
    await plain(driver, request('Hi', { json: { schema: { type: 'object' } } }))
    await plain(driver, request('Hi', { json: true }))
    expect(upstream.calls.map((call) => call.body.response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      { type: 'json_object' },
    ])
  })

  test('writes tool calls and results back as they came', async () => {
    upstream.reset()
    const messages = [
      { role: 'user' as const, content: 'Look' },
      { role: 'assistant' as const, content: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
      { role: 'tool' as const, toolCallId: 'call_1', toolName: 'look', content: 'seen' },
    ]
    await plain(driver, request('', { messages }))
    expect(upstream.calls[0]!.body.messages).toEqual([
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ])
  })

  test('a stream that is not read keeps its upstream waiting without a time-out', async () => {
    const silenceMs = 1_500
    const stream = streamed(createCompatDriver({ ...options, clock: systemClock, silenceMs }), request('[[tokens:30]]'))
    const first = await stream.next()
    // The reader's own pause, longer than the patience with an upstream.
    await Bun.sleep(silenceMs * 1.3)
    const rest = await collect(stream)
    expect(textOf([first.value, ...rest]).split(' ')).toHaveLength(30)
  })

  test('one connection serves one stream after another', async () => {
    upstream.reset()
    const ports = new Set<unknown>()
    for (let round = 0; round < 3; round++) {
      await collect(streamed(driver, request('Hi')))
      ports.add(upstream.calls.at(-1)!.clientPort)
    }
    expect(ports.size).toBe(1)
  })

  test('nobody at the address is a refusal', async () => {
    const lonely = createCompatDriver({ ...options, baseUrl: 'http://127.0.0.1:9/v1' })
    await expect(plain(lonely, request('Hi'))).rejects.toMatchObject({ kind: 'refused', retryable: true })
    await expect(lonely.probe(new AbortController().signal)).rejects.toMatchObject({ kind: 'refused' })
  })
})

upstreamSuite('compat', { driver, impatient, upstream })

const explain = () => new EngineFailure('server', 'reported')

const readCalls = (pieces: readonly object[]) => {
  const joiner = createCallJoiner()
  for (const piece of pieces) joiner.add([piece])
  return joiner.calls()
}

const piece = (index: number | null, id: string | null, name: string | null, args: unknown): object => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === null ? {} : { name }), arguments: args },
})

const A = { id: 'a', name: 'look', arguments: '{"q":"x"}' }
const B = { id: 'b', name: 'listen', arguments: '{}' }

test.each<[string, object[], object[]]>([
  ['whole', [piece(0, 'a', 'look', '{"q":"x"}'), piece(1, 'b', 'listen', '{}')], [A, B]],
  [
    'by index, in pieces',
    [piece(0, 'a', 'look', ''), piece(0, null, null, '{"q"'), piece(0, null, null, ':"x"}')],
    [A],
  ],
  [
    'by index, in turns',
    [
      piece(0, 'a', 'look', '{"q"'),
      piece(1, 'b', 'listen', '{'),
      piece(0, null, null, ':"x"}'),
      piece(1, null, null, '}'),
    ],
    [A, B],
  ],
  ['with the id in every piece', [piece(0, 'a', 'look', '{"q"'), piece(0, 'a', '', ':"x"}')], [A]],
  ['with an id of its own in every piece', [piece(0, 'a', 'look', '{"q"'), piece(0, 'z', null, ':"x"}')], [A]],
  ['with one id at several indexes', [piece(0, 'a', 'look', '{"q"'), piece(1, 'a', 'look', ':"x"}')], [A]],
  [
    'without ids, all with index 0',
    [piece(0, null, 'listen', '{}'), piece(0, null, 'listen', '{}')],
    [
      { ...B, id: 'call_0' },
      { ...B, id: 'call_1' },
    ],
  ],
  [
    'with one id for two',
    [piece(null, 'a', 'look', '{"q":"x"}'), piece(null, 'a', 'look', '{"q":"y"}')],
    [A, { ...A, id: 'call_1', arguments: '{"q":"y"}' }],
  ],
  ['and the whole call once more', [piece(0, 'a', 'look', '{"q":"x"}'), piece(0, 'a', 'look', '{"q":"x"}')], [A]],
  ['with JSON in a JSON string', [piece(0, 'a', 'look', '"{\\"q\\"'), piece(0, null, null, ':\\"x\\"}"')], [A]],
  ['with its tail at another index', [piece(0, 'a', 'look', '{"q"'), piece(1, null, null, ':"x"}')], [A]],
  [
    'with the name in every piece',
    [piece(0, null, 'listen', '{'), piece(0, null, 'listen', '}')],
    [{ ...B, id: 'call_0' }],
  ],
  ['all with index 0', [piece(0, 'a', 'look', '{"q":"x"}'), piece(0, 'b', 'listen', '{}')], [A, B]],
  [
    'without an index',
    [piece(null, 'a', 'look', '{"q"'), piece(null, null, null, ':"x"}'), piece(null, 'b', 'listen', '{}')],
    [A, B],
  ],
  ['with arguments as an object', [piece(0, 'a', 'look', { q: 'x' })], [A]],
  ['without arguments', [piece(1, 'b', 'listen', null)], [B]],
  ['without an id', [piece(0, null, 'listen', '{}')], [{ ...B, id: 'call_0' }]],
])('calls come %s', (_, pieces, calls) => {
  expect(readCalls(pieces)).toEqual(calls as never)
})

test.each([['text'], [{}], [[null]], [['look']], [7]])('%p is no list of calls', (value) => {
  expect(() => createCallJoiner().add(value)).toThrow(expect.objectContaining({ kind: 'malformed' }))
})

test('a call that names no tool is malformed', () => {
  expect(() => readCalls([piece(0, 'a', null, '{}')])).toThrow(expect.objectContaining({ kind: 'malformed' }))
})

const answer = (finish_reason: string, tool_calls?: unknown) =>
  readAnswer({ choices: [{ message: { content: null, tool_calls }, finish_reason }] }, explain)

test('an answer with calls ends for them, and one without does not', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  expect(answer('stop', [call]).finish).toBe('tool-calls')
  expect(answer('length', [call]).finish).toBe('length')
  expect(answer('tool_calls', []).finish).toBe('stop')
  expect(answer('tool_calls').finish).toBe('stop')
})

const wire = (value: object) => `data: ${JSON.stringify(value)}\n\n`

test('a stream with calls ends for them, whatever it says', () => {
  const reader = createStreamReader(explain)
  const call = { index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }
  reader.read(wire({ choices: [{ delta: { tool_calls: [call] } }] }))
  reader.read(wire({ choices: [{ delta: {}, finish_reason: 'stop' }] }))
  expect([...reader.end()]).toEqual([
    { type: 'tool-call', id: 'a', name: 'look', arguments: '{}' },
    { type: 'finish', reason: 'tool-calls' },
  ])
})

test.each([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['tool_use', 'stop'],
])('the finish word %s means %s where no call came', (word, finish) => {
  expect(answer(word).finish).toBe(finish as never)
})

test.each(['abort', 'error', 'network_error', 'something_new'])('%s is no finish of a whole answer', (word) => {
  expect(() => answer(word)).toThrow(expect.objectContaining({ kind: 'truncated' }))
})

const CALL = { name: 'look', arguments: '{"q":"x"}' }

test('the one call of servers without lists of them is a call', () => {
  const choice = { message: { content: null, function_call: CALL }, finish_reason: 'function_call' }
  expect(readAnswer({ choices: [choice] }, explain)).toMatchObject({
    toolCalls: [{ id: 'call_0', ...CALL }],
    finish: 'tool-calls',
  })
  const reader = createStreamReader(explain)
  reader.read(wire({ choices: [{ delta: { function_call: { name: 'look', arguments: '{"q"' } } }] }))
  const rest = { delta: { function_call: { arguments: ':"x"}' } }, finish_reason: 'function_call' }
  reader.read(wire({ choices: [rest] }))
  expect([...reader.end()][0]).toEqual({ type: 'tool-call', id: 'call_0', ...CALL })
})

test('of several choices the first is the answer, in whatever order they come', () => {
  const choice = (index: number, content: string) => ({ index, message: { content }, finish_reason: 'stop' })
  expect(readAnswer({ choices: [choice(1, 'second'), choice(0, 'first')] }, explain).text).toBe('first')
})

test('the text of a server that completes texts is the answer', () => {
  const body = { choices: [{ text: 'Hello', finish_reason: 'stop' }] }
  expect(readAnswer(body, explain).text).toBe('Hello')
  expect(createStreamReader(explain).read(wire(body))).toEqual([{ type: 'text', text: 'Hello' }])
})

const parameters = { type: 'object', properties: { title: { type: 'string' }, floor: { type: 'integer' } } }
const TOOLS = ['find_shelf', 'list_all'].map((name) => ({ name, description: '', parameters }))
const FIND = { name: 'find_shelf', arguments: { title: 'Tides' } }
const WRITTEN = '{"name": "find_shelf", "arguments": {"title": "Tides"}}'
const TAGS = '<function=find_shelf>\n<parameter=title>\nTides\n</parameter>\n<parameter=floor>\n2\n</parameter>\n'
const UPSTAIRS = { name: 'find_shelf', arguments: { title: 'Tides', floor: 2 } }
const FINISH: EnginePart = { type: 'finish', reason: 'stop' }

/** The answer to a request with tools, given in pieces of that many characters, or whole. */
async function answerWith(text: string, size: number, request: Partial<EngineRequest> = {}, more: EnginePart[] = []) {
  const found = new Collector()
  const sink = readWrittenCalls({ tools: TOOLS, ...request } as EngineRequest, found)
  if (size === 0) sink.whole!({ ...new Collector().answer, text })
  else
    for (const piece of text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [])
      await sink.take({ type: 'text', text: piece })
  for (const part of size === 0 ? [] : [...more, FINISH]) await sink.take(part)
  const { toolCalls, finish } = found.answer
  const calls = toolCalls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }))
  return { text: found.answer.text, calls, finish }
}

describe.each([0, 1, 7, 5_000])('calls in the text, in pieces of %i characters', (size) => {
  test.each<[string, string, object[], string?]>([
    ['Hermes', `<tool_call>\n${WRITTEN}\n</tool_call>`, [FIND]],
    ['Hermes, behind words', `I will look.\n<tool_call>${WRITTEN}</tool_call>`, [FIND], 'I will look.'],
    ['two of Hermes', `<tool_call>${WRITTEN}</tool_call>\n<tool_call>\n${WRITTEN}\n</tool_call>`, [FIND, FIND]],
    ['Hermes without its end', `<tool_call>\n${WRITTEN}`, [FIND]],
    ['Hermes without a bracket', `<tool_call>${WRITTEN.slice(0, -1)}</tool_call>`, [FIND]],
    ['Qwen coder', `<tool_call>\n${TAGS}</function>\n</tool_call>`, [UPSTAIRS]],
    ['Qwen coder without its first tag', `${TAGS}</function>\n</tool_call>`, [UPSTAIRS]],
    [
      'GLM',
      '<tool_call>find_shelf\n<arg_key>title</arg_key>\n<arg_value>Tides</arg_value>\n<arg_key>floor</arg_key>' +
        '<arg_value>2</arg_value>\n</tool_call>',
      [UPSTAIRS],
    ],
    ['Mistral', `[TOOL_CALLS] [${WRITTEN}]</s>`, [FIND]],
    ['newer Mistral', '[TOOL_CALLS]find_shelf[CALL_ID]a1[ARGS]{"title": "Tides"}', [FIND]],
    ['Llama 3.1', '<|python_tag|>{"name": "find_shelf", "parameters": {"title": "Tides"}}<|eom_id|>', [FIND]],
    ['Llama 3.1, as Python', '<|python_tag|>find_shelf.call(title="Tides", floor=2)', [UPSTAIRS]],
    ['Llama 3.1, its own tags', '<function=find_shelf>{"title": "Tides"}</function>', [FIND]],
    ['Llama 3.2', '{"type": "function", "name": "find_shelf", "parameters": {"title": "Tides"}}', [FIND]],
    ['bare calls in a list', `\n[${WRITTEN}]`, [FIND]],
    [
      'DeepSeek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_shelf\n```json\n{"title": "Tides"}\n```' +
        '<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [FIND],
    ],
    [
      'newer DeepSeek',
      'Looking.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find_shelf<｜tool▁sep｜>{"title": "Tides"}<｜tool▁call▁end｜>' +
        '<｜tool▁call▁begin｜>list_all<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [FIND, { name: 'list_all', arguments: {} }],
      'Looking.',
    ],
    [
      'newest DeepSeek',
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="find_shelf">\n<｜DSML｜parameter name="title" string="true">Tides' +
        '</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      [FIND],
    ],
    [
      'Kimi',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.find_shelf:0<|tool_call_argument_begin|>' +
        '{"title": "Tides"}<|tool_call_end|><|tool_calls_section_end|>',
      [FIND],
    ],
    [
      'MiniMax',
      '<minimax:tool_call>\n<invoke name="find_shelf">\n<parameter name="title">Tides</parameter>\n</invoke>\n' +
        '</minimax:tool_call>',
      [FIND],
    ],
    ['Granite', `<|tool_call|>[${WRITTEN}]`, [FIND]],
    ['Phi', `functools[${WRITTEN}]`, [FIND]],
    ['Liquid', '<|tool_call_start|>[find_shelf(title="Tides")]<|tool_call_end|>', [FIND]],
    [
      'Command R',
      '<|START_ACTION|>[{"tool_name": "find_shelf", "parameters": {"title": "Tides"}}]<|END_ACTION|>',
      [FIND],
    ],
    [
      'gpt-oss',
      '<|channel|>commentary to=functions.find_shelf <|constrain|>json<|message|>{"title": "Tides"}<|call|>',
      [FIND],
    ],
  ])('of %s', async (_, text, calls, shown = '') => {
    expect(await answerWith(text, size)).toEqual({ text: shown, calls: calls as never, finish: 'tool-calls' })
  })

  test.each([
    ['a tool that was not offered', '<tool_call>{"name": "open_vault", "arguments": {}}</tool_call>'],
    ['an example in a fence', `So:\n\`\`\`xml\n<tool_call>${WRITTEN}</tool_call>\n\`\`\`\nThat is all.`],
    ['words about the tag', 'A <tool_call> tag wraps the call, [TOOL_CALLS] begins it. '],
    ['the definition of a tool', '{"name": "find_shelf", "description": "", "parameters": {"type": "object"}}'],
    ['JSON of something else', '{"name": "Ada", "parameters": [1, 2]}'],
    ['half a mark', 'a <tool_ca'],
    ['blanks at the end', 'Shelf four. \n'],
  ])('but not %s', async (_, text) => {
    expect(await answerWith(text, size)).toEqual({ text, calls: [], finish: 'stop' })
  })
})

test.each<[string, string, number]>([
  ['blocks', '<tool_call>x</tool_call>', 5_000],
  ['begins', '<tool_call>', 5_000],
  ['fenced blocks', '```<tool_call>x</tool_call>', 5_000],
  ['blanks, one by one', '\n', 1],
  ['objects behind words', '[TOOL_CALLS] not a tool {} ', 7],
  ['calls in Python', '[TOOL_CALLS] f(a="b") ', 5_000],
  ['calls of no tool', '[TOOL_CALLS] [{"name":"x"}] ', 5_000],
])('time is linear in the text: %s', async (_, piece, size) => {
  const text = piece.repeat(400_000 / piece.length)
  expect(await effortOf(() => answerWith(text, size), 2)).toBeLessThan(1_000)
})

test('text stays text without tools, with the choice "none", and bare JSON where JSON was asked for', async () => {
  const text = `<tool_call>${WRITTEN}</tool_call>`
  for (const request of [{ tools: [] }, { toolChoice: 'none' as const }])
    expect(await answerWith(text, 7, request)).toEqual({ text, calls: [], finish: 'stop' })
  expect(await answerWith(WRITTEN, 7, { json: true })).toEqual({ text: WRITTEN, calls: [], finish: 'stop' })
})

test('a call that the answer also has in its field is one call', async () => {
  const call = { type: 'tool-call' as const, id: 'a', name: 'find_shelf', arguments: '{"title":"Tides"}' }
  expect((await answerWith(`<tool_call>${WRITTEN}</tool_call>`, 7, {}, [call])).calls).toEqual([FIND])
})

type Limits = { timeoutMs?: number; silenceMs?: number }
type Made = (clock: Clock, limits?: Limits) => Driver

const chat = await startUpstream()
const messages = await startUpstream({ dialect: messagesDialect })
afterAll(async () => void (await Promise.all([chat.stop(), messages.stop()])))
beforeEach(() => {
  chat.reset()
  messages.reset()
})

const compat: Made = (clock, limits = {}) =>
  createCompatDriver({ baseUrl: chat.url, apiKey: null, outputLimitField: 'max_tokens', clock, ...limits })
const vendor: Made = (clock, limits = {}) =>
  createAiSdkDriver({ vendor: 'anthropic', baseUrl: messages.url, apiKey: null, clock, ...limits })

/** Begins a call, and says how it ended, if it has. */
function began(call: Promise<unknown>) {
  let ended: unknown = null
  const whole = call.then(
    () => 'answered',
    (error: { kind: string; message: string }) => error,
  )
  void whole.then((how) => {
    ended = how
  })
  return { whole, ended: () => ended }
}

describe.each([
  ['compat', compat, chat],
  ['a vendor package', vendor, messages],
] as const)('%s', (_name, make, upstream) => {
  const requestOf = () => eventually(() => upstream.calls.length === 1)
  /** Whatever was to end by now has ended when another call has been answered. */
  const meanwhile = (driver: Driver) => plain(driver, request('Hi'))

  test.each([
    ['a plain answer may take 120 s', 120_000, (driver: Driver) => plain(driver, request('[[hang]]'))],
    ['a stream may be silent for 600 s', 600_000, (driver: Driver) => collect(streamed(driver, request('[[hang]]')))],
  ])('%s (docs/api.md 1.9)', async (_what, max, call) => {
    const clock = fakeClock()
    const driver = make(clock)
    const { whole, ended } = began(call(driver))
    await requestOf()
    clock.advance(max - 1)
    await meanwhile(driver)
    expect(ended()).toBeNull()
    clock.advance(1)
    expect(await whole).toMatchObject({
      kind: 'timeout',
      message: `the upstream did not finish within ${max / 1_000} s`,
    })
  })

  test('a call that its upstream is given less time for ends then', async () => {
    const clock = fakeClock()
    const { whole } = began(plain(make(clock, { timeoutMs: 7_000 }), request('[[hang]]')))
    await requestOf()
    clock.advance(7_000)
    expect(await whole).toMatchObject({ kind: 'timeout', message: 'the upstream did not finish within 7 s' })
  })

  test('silence has a limit of its own, which every byte restarts', async () => {
    const clock = fakeClock()
    const stream = streamed(make(clock, { silenceMs: 10_000 }), request('[[slow:20]] [[tokens:12]]'))
    const heard: unknown[] = []
    for await (const part of stream) {
      heard.push(part)
      clock.advance(6_000)
    }
    expect(heard.at(-1)).toMatchObject({ type: 'finish' })
    upstream.reset()
    const { whole } = began(plain(make(clock, { silenceMs: 10_000 }), request('[[hang]]')))
    await requestOf()
    clock.advance(10_000)
    expect(await whole).toMatchObject({ kind: 'timeout', message: 'the upstream was silent for 10 s' })
  })
})
