import { describe, expect, test } from 'bun:test'
import { createJsonFilter, jsonAnswer } from '../../src/completions/agent-filters'
import { structuredOutput } from '../../src/completions/rules'
import { effortOf } from '../support/effort'

const dataOf = (content: string) => structuredOutput('data_extraction', content)

describe('JSON that an engine put into a fence', () => {
  test.each(['{"a":1}', '```json\n{"a":1}\n```', '```\n{"a":1}\n```', '\n\n```json  \n{\n"a":\n1}\n```\n\n'])(
    'is read from %j',
    (content) => {
      expect(dataOf(content)).toEqual({ type: 'data_extraction', data: { a: 1 } })
    },
  )

  test.each(['```json\n{"a":1}', '```js\n{"a":1}\n```', 'See:\n```json\n{"a":1}\n```', '```', '```json\n```'])(
    'is reported and not guessed where there is more or less than one: %j',
    (content) => {
      expect(dataOf(content)).toMatchObject({ data: null, parse_error: expect.any(String) })
    },
  )

  test('a fence that never ends, before a million line breaks, takes no time (I28)', async () => {
    const effort = await effortOf(() => {
      dataOf(`\`\`\`json\n${'\n'.repeat(1_000_000)}x`)
      dataOf(`\`\`\`json\n${'\n```'.repeat(250_000)}x`)
    })
    expect(effort).toBeLessThan(200)
  })
})

const FENCED = '```json\n{"a":1}\n```'

describe('an answer where JSON was asked for', () => {
  test.each([
    ['JSON', '{"a":1}', '{"a":1}'],
    ['JSON behind a byte order mark', '\ufeff\n{"a":1}', '{"a":1}'],
    ['a fence', FENCED, '{"a":1}'],
    ['a fence with lines of CR LF', '```json\r\n{"a":1}\r\n```\r\n', '{"a":1}'],
    ['a fence in words', `Sure! Here it is:\n\n${FENCED}\n\nDo you need more?`, '{"a":1}'],
    ['a fence in a list', `1. So:\n   \`\`\`json\n   {"a":1}\n   \`\`\`\nDone.`, '   {"a":1}'],
    ['a fence in one line', '```json {"a":1}```', '{"a":1}'],
    ['a fence that never ends', '```json\n{"a":1}', '{"a":1}'],
    ['two fences', `${FENCED}\nor\n\`\`\`json\n{"a":2}\n\`\`\``, '{"a":1}'],
    ['a fence inside a value', '{"a":"```js\\ncode\\n```"}', '{"a":"```js\\ncode\\n```"}'],
    ['words', 'I cannot do that.', 'I cannot do that.'],
    ['words with ticks', 'Use ```json\nnow', 'Use ```json\nnow'],
    ['JSON behind words with braces', 'The {row} is: {"a":1} — done.', '{"a":1}'],
    ['a number', ' 12 ', ' 12 '],
    ['nothing', '', ''],
  ])('with %s is that JSON, whole and in pieces', (_, text, wanted) => {
    expect(jsonAnswer(text)).toBe(wanted)
    for (const size of [1, 2, 7]) {
      const filter = createJsonFilter()
      let given = ''
      for (let at = 0; at < text.length; at += size) given += filter.add(text.slice(at, at + size))
      expect({ size, given: given + filter.end() }).toEqual({ size, given: wanted })
    }
  })
})

describe('an object around the answer', () => {
  const json = {
    schema: { type: 'object', properties: { row: {}, place: { type: 'object' }, floor: { type: 'integer' } } },
  }

  test.each([
    ['of any name', '{"response": {"row": "D"}}', '{"row": "D"}'],
    ['in a fence', '```json\n{\n "data": {\n  "row": "D"\n }\n}\n```', '{\n  "row": "D"\n }'],
    ['behind words', 'So: {"shelf_place": {"row": "D"}} it is', '{"row": "D"}'],
    ['with members behind', '{"answer": {"row": "D"}, "note": "x"}', '{"row": "D"}'],
    ['named like a number of the schema', '{"floor": {"row": "D"}}', '{"row": "D"}'],
    ['that the schema has', '{"place": {"row": "D"}}', '{"place": {"row": "D"}}'],
    ['of which the schema knows nothing', '{"x": {"y": 1}}', '{"x": {"y": 1}}'],
    ['that is empty', '{"x": {}}', '{"x": {}}'],
    ['that is no object', '{"row": "D", "place": null}', '{"row": "D", "place": null}'],
    ['that is a list', '[{"row": "D"}]', '[{"row": "D"}]'],
  ])('%s', (_, text, wanted) => {
    expect(jsonAnswer(text, true, json)).toBe(wanted)
    for (const size of [1, 2, 7]) {
      const filter = createJsonFilter(json)
      let given = ''
      for (let at = 0; at < text.length; at += size) given += filter.add(text.slice(at, at + size))
      expect({ size, given: given + filter.end() }).toEqual({ size, given: wanted })
    }
  })
})

describe('JSON as models write it', () => {
  test.each([
    ['commas behind the last value (deer-flow#2368, mem0#5623)', '{"a":[1,2,],"b":"x,}",}', '{"a":[1,2],"b":"x,}"}'],
    ['single quotes and names without quotes', "{a: 'it is', 'b': 1}", '{"a":"it is","b":1}'],
    ['signs of other languages', '{"a"：1，"b":\u00a02;"c": «x»,"d":`y`}', '{"a":1,"b":2,"c":"x","d":"y"}'],
    ['numbers of other languages', '{"a":+1,"b":007,"c":[1.,.5,0xff,1_000]}', '{"a":1,"b":7,"c":[1,0.5,255,1000]}'],
    ['undefined', '{"a":undefined,"b":[TRUE]}', '{"a":null,"b":[true]}'],
    ['an apostrophe that is escaped', '{"a":"it\\\'s"}', '{"a":"it\'s"}'],
    ['comments', '{\n // the row\n "a":"B", /* ok ** */"b": /**/2 //\n}', '{"a":"B","b":2}'],
    [
      'words of Python',
      "{'a': None, 'b': [True, False], 'c': 'None of it'}",
      '{"a":null,"b":[true,false],"c":"None of it"}',
    ],
    ['a line end in a text, in a fence', '```json\n{"a":"one\ntwo\tx",}\n```', '{"a":"one\\ntwo\\tx"}'],
    [
      'missing commas (vmlx#187)',
      '{"a":1 "b":["x" "y"]\n"c":[{"d":1} {"d":2}]}',
      '{"a":1,"b":["x","y"],"c":[{"d":1},{"d":2}]}',
    ],
    ['curly quotes', '{\u201ca\u201d: \u201cit\u2019s "so"\u201d}', '{"a":"it\u2019s \\"so\\""}'],
    ['a number beyond doubles', '{"a":9007199254740993,}', '{"a":9007199254740993}'],
    ['backslashes of formulas', '{"a":"\\(x\\) \\n \\u00e9",}', '{"a":"\\\\(x\\\\) \\n \\u00e9"}'],
    ['an answer left open', '{"a":[{"b":"x"}', '{"a":[{"b":"x"}]}'],
    ['JSON in a JSON string', '"{\\"a\\":\\"x\\\\ny\\"}"', '{"a":"x\\ny"}'],
    ['escaped quotes (allms#21)', '{\\"a\\": [1], \\"b\\":\\"x\\"}', '{"a":[1],"b":"x"}'],
    ['an answer closed twice (modlens#45)', '{"a":{"b":1}}}', '{"a":{"b":1}}'],
    [
      'quotes in a text (pythinker-code#62)',
      '{"a":"said "no" to it","b":["x"y"]}',
      '{"a":"said \\"no\\" to it","b":["x\\"y"]}',
    ],
    ['equals signs', '{"a" = 1, b = "x = y"}', '{"a":1,"b":"x = y"}'],
    ['tuples', "{'a': ('x', 1), 'b': [(1, 2)]}", '{"a":["x",1],"b":[[1,2]]}'],
    ['two brackets for one (tinyagents#68)', '{{"a":{"b":1}}}', '{"a":{"b":1}}'],
    ['a quote in a text of single quotes', `{'a': 'say "hi", it\\'s'}`, `{"a":"say \\"hi\\", it's"}`],
  ])('with %s is read as meant, whole and in pieces', (_, answer, wanted) => {
    for (const size of [1, 2, 7, answer.length]) {
      const filter = createJsonFilter()
      let given = ''
      for (let at = 0; at < answer.length; at += size) given += filter.add(answer.slice(at, at + size))
      given += filter.end()
      // Only blanks between values differ.
      expect({ size, given: given.replace(/\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/g, '') }).toEqual({
        size,
        given: wanted,
      })
    }
  })

  test.each([
    ['JSON', ' {"a": 1.0}', '{"a": 1.0}'],
    ['what was cut within a text', '{"a":[1,"x', '{"a":[1,"x'],
    ['no JSON', '{not json}', '{not json}'],
  ])('%s stays as it is', (_, answer, wanted) => expect(jsonAnswer(answer)).toBe(wanted))

  test('a hostile text takes no time (I28)', async () => {
    const hostile = [
      `{${"'a".repeat(100_000)}}`,
      `{"${'\\"'.repeat(100_000)}}`,
      `{${'{ x'.repeat(100_000)}}`,
      `x ${'{"'.repeat(100_000)}`,
    ]
    expect(await effortOf(() => hostile.map((text) => jsonAnswer(text)))).toBeLessThan(400)
  })
})
