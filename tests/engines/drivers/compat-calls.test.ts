import { describe, expect, test } from 'bun:test'
import { createCallJoiner, readWrittenCalls } from '../../../src/engines/drivers/compat-calls'
import { createStreamReader, readAnswer } from '../../../src/engines/drivers/compat-from-wire'
import { EngineFailure, type EnginePart, type EngineRequest } from '../../../src/engines/engine'
import { Collector } from '../../../src/engines/meter'

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
