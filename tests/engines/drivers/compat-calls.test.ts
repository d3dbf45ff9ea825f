import { expect, test } from 'bun:test'
import { createCallJoiner } from '../../../src/engines/drivers/compat-calls'
import { createStreamReader, readAnswer } from '../../../src/engines/drivers/compat-from-wire'
import { EngineFailure } from '../../../src/engines/engine'

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
