import { describe, expect, test } from 'bun:test'
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
