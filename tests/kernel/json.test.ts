import { describe, expect, test } from 'bun:test'
import type { AppError } from '../../src/kernel/errors'
import { parseUntrustedJson } from '../../src/kernel/json'
import { effortOf } from '../support/effort'

const parse = (text: string) => parseUntrustedJson(new TextEncoder().encode(text))

function refusal(text: string | Uint8Array): AppError {
  try {
    parseUntrustedJson(typeof text === 'string' ? new TextEncoder().encode(text) : text)
  } catch (error) {
    return error as AppError
  }
  throw new Error(`${String(text).slice(0, 60)} was accepted`)
}

describe('JSON from strangers', () => {
  test.each([
    '{"a":1,"b":[true,null,"x"]}',
    '"text with \\" a quote and { [ in it"',
    '-12.5e3',
    '[]',
    '{"deep":{"er":["\\u00e9","é","😀"]}}',
    '{"constructor":{"prototype":1}}',
    `${'['.repeat(64)}${']'.repeat(64)}`,
    '12345678901234567000',
    '[9007199254740991,-9007199254740992,100000000000000000000,1e23,0.1234567890123456789,12345678901.25000000]',
    '{"a":"\\\\"}',
    `[${'"a",'.repeat(99_999)}1]`,
    `[[${'1, '.repeat(149_999)}1],[${'-2,'.repeat(149_999)}2.5]]`,
    JSON.stringify({ text: ','.repeat(200_000) }),
  ])('reads what JSON.parse reads: %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  const hostile: [string, string | Uint8Array, string][] = [
    ['nesting of 65 lists', '['.repeat(65), 'deeper than 64'],
    ['nesting of 100,000 lists', '['.repeat(100_000), 'deeper than 64'],
    ['nesting of 50,000 objects', '{"a":'.repeat(50_000), 'deeper than 64'],
    ['a list of 100,001 texts', `["a"${',"a"'.repeat(100_000)}]`, 'more than 100000 values'],
    ['a list of 400,001 numbers', `[1${',1'.repeat(400_000)}]`, 'more than 100000 values'],
    ['an object of 300,000 members', `{${'"a":1,'.repeat(300_000)}"a":1}`, 'more than 100000 values'],
    ['a number of 33 digits', '1'.repeat(33), 'more than 32 characters'],
    ['a number of a million digits', `[${'9'.repeat(1_000_000)}]`, 'more than 32 characters'],
    ['a number too large to hold', '{"temperature":1e999}', 'too large'],
    ['a whole number that would lose digits', '12345678901234567891', 'Send it as a string'],
    ['one with a fraction of zeros', '[9007199254740993.00]', '"[0]" is a whole number'],
    ['an escaped NUL in a value', '{"prompt":"a\\u0000b"}', 'NUL'],
    ['an escaped NUL in a key', '{"a\\u0000":1}', 'NUL'],
    ['half of a surrogate pair in a value', '{"prompt":"a\\ud83d"}', 'surrogate'],
    ['half of a surrogate pair in a key', '{"a\\ude00":1}', 'surrogate'],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0xfe, 0x22), 'UTF-8'],
    ['UTF-16', new Uint8Array(Buffer.from('{"prompt":"a"}', 'utf16le')), 'valid JSON'],
    ['half an object', '{"a":', 'valid JSON'],
    ['an unended string', '{"a":"', 'valid JSON'],
    ['nothing but white space', '  ', 'valid JSON'],
    ['NaN', '{"a":NaN}', 'valid JSON'],
    ['a trailing comma', '[1,]', 'valid JSON'],
    ['two values', '1 2', 'valid JSON'],
  ]
  test.each(hostile)('refuses %s', (_, text, words) => {
    const error = refusal(text)
    expect(error).toMatchObject({ kind: 'invalid', code: 'validation_error' })
    expect(error.message).toContain(words)
  })

  test.each([
    [
      '{"payload":{"list":[1,{"id":9007199254740993}]}}',
      'payload.list[1].id',
      '{"payload":{"list":[1,{"id":"9007199254740993"}]}}',
    ],
    ['[0,[-12345678901234567891 ]]', '[1][0]', '[0,["-12345678901234567891"]]'],
    ['{"a":{"b":90071992547409930e-1}}', 'a.b', '{"a":{"b":"90071992547409930e-1"}}'],
    [
      '{"text":"9007199254740993","größe":\n9007199254740993}',
      'größe',
      '{"text":"9007199254740993","größe":"9007199254740993"}',
    ],
  ])('names the number that would lose digits, or keeps its digits as text: %s', (text, path, stored) => {
    expect(refusal(text)).toMatchObject({ code: 'validation_error', param: path, details: [{ path }] })
    expect(parseUntrustedJson(new TextEncoder().encode(text), { large: 'text' })).toEqual(JSON.parse(stored))
  })

  test('refuses hostile nesting and numbers without parsing them: under 50 ms', async () => {
    const [nested, long] = ['['.repeat(1_000_000), `{"a":${'1'.repeat(1_000_000)}}`]
    const effort = await effortOf(() => {
      refusal(nested)
      refusal(long)
    })
    expect(effort).toBeLessThan(50)
  })

  test('drops __proto__ keys, plain or escaped, at any depth', () => {
    const value = parse('{"a":{"__proto__":{"isAdmin":true},"b":1},"\\u005f_proto__":{"isAdmin":true}}') as {
      a: object
    }
    expect(Object.keys(value)).toEqual(['a'])
    expect(Object.keys(value.a)).toEqual(['b'])
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })

  test('brackets and digits inside strings are only text', () => {
    const text = JSON.stringify({ prompt: `${'['.repeat(200)} ${'1'.repeat(200)} \\" {` })
    expect(parse(text)).toEqual(JSON.parse(text))
  })
})
