import { expect, test } from 'bun:test'
import { readCalls, type WireCall, wireCalls } from '../../../src/engines/drivers/compat/calls'
import { createStreamReader, readAnswer } from '../../../src/engines/drivers/compat/from-wire'

const piece = (index: number | null, id: string | null, name: string | null, args: unknown): WireCall => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === null ? {} : { name }), arguments: args },
})

const A = { id: 'a', name: 'look', arguments: '{"q":"x"}' }
const B = { id: 'b', name: 'listen', arguments: '{}' }

test.each<[string, WireCall[], object[]]>([
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
  expect(() => wireCalls(value)).toThrow(expect.objectContaining({ kind: 'malformed' }))
})

test('a call that names no tool is malformed', () => {
  expect(() => readCalls([piece(0, 'a', null, '{}')])).toThrow(expect.objectContaining({ kind: 'malformed' }))
})

const answer = (finish_reason: string, tool_calls?: unknown) =>
  readAnswer(JSON.stringify({ choices: [{ message: { content: null, tool_calls }, finish_reason }] }))

test('an answer with calls ends for them, and one without does not', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  expect(answer('stop', [call]).finish).toBe('tool-calls')
  expect(answer('length', [call]).finish).toBe('length')
  expect(answer('tool_calls', []).finish).toBe('stop')
  expect(answer('tool_calls').finish).toBe('stop')
})

test('a stream with calls ends for them, whatever it says', () => {
  const reader = createStreamReader()
  reader.read([
    JSON.stringify({
      choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }] } }],
    }),
    JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] }),
  ])
  expect([...reader.end()]).toEqual([
    { type: 'tool-call', id: 'a', name: 'look', arguments: '{}' },
    { type: 'finish', reason: 'tool-calls' },
  ])
})
