import { describe, expect, test } from 'bun:test'
import { checked, checkedQuery, checker, nullable, oneOf, SchemaRefusal, t } from '../../src/kernel/schema'
import { findIssues } from '../../src/kernel/validation-issues'
import { effortOf } from '../support/effort'

const Part = t.Union([
  t.Object({ type: t.Literal('text'), text: t.String() }),
  t.Object({ type: t.Literal('image'), url: t.String({ maxLength: 10 }) }),
])
const Message = t.Object({ role: t.String(), content: nullable(t.Union([t.String(), t.Array(Part)])) })
const Input = t.Object({
  messages: t.Array(Message, { minItems: 1, maxItems: 10_000 }),
  stream: t.Optional(t.Boolean()),
  limit: t.Optional(t.Integer()),
})
const { issues } = checker(Input)
const message = (content: unknown) => ({ role: 'user', content })
const many = (count: number, content: unknown = 'x') => Array.from({ length: count }, () => message(content))

describe('errors in a large value', () => {
  test.each([
    ['a wrong member beside 9,999 good entries', { messages: many(9_999), stream: 1 }, ['stream']],
    ['a missing member of a large object', { stream: Array.from({ length: 999 }, () => 1) }, ['', 'stream']],
    ['one bad entry among 10,000', { messages: [...many(9_999), message(7)] }, ['messages.9999.content']],
    ['too many entries, none of them looked at', { messages: many(100_001, 7) }, ['messages']],
    [
      'a part deep inside',
      { messages: [message([...many(500).map(() => ({ type: 'text', text: 'x' })), { type: 'text' }])] },
      ['messages.0.content.500'],
    ],
  ])('are reported by their path: %s', (_, value, paths) => {
    const found = issues(value).map((issue) => issue.path)
    for (const path of paths) expect(found.some((seen) => seen === path || seen.startsWith(`${path}.`))).toBe(true)
    expect(found.every((seen) => paths.some((path) => seen === path || seen.startsWith(`${path}.`)))).toBe(true)
  })

  test('are found within 100 ms, however large it is (I28)', async () => {
    for (const value of [
      { messages: many(100_001) },
      { messages: many(10_000), stream: 1 },
      { messages: many(10_000, [7]) },
    ]) {
      expect(issues(value).length).toBeGreaterThan(0)
      expect(await effortOf(() => issues(value))).toBeLessThan(100)
    }
  })

  test('are limited to the first of many', () => {
    const found = issues({ messages: many(9_000, 7) })
    expect(found[0]!.path).toBe('messages.0.content')
    expect(found.length).toBeLessThan(50)
  })
})

test('a body that does not fit its schema is refused without a copy of itself in the message', () => {
  const check = () => checked(Input)['~standard'].validate({ messages: [], stream: 'x'.repeat(1_000) })
  expect(check).toThrow(SchemaRefusal)
  expect(check).toThrow('does not fit its schema')
})

describe('alternatives of the same type', () => {
  const Tagged = t.Union([
    t.Object({ type: oneOf(['one', 'two']) }),
    t.Object({ type: oneOf(['three']), size: t.Number() }),
  ])
  const Untagged = t.Union([
    t.Object({ type: oneOf(['one', 'two']), name: t.String() }),
    t.Object({ type: oneOf(['two', 'three']), size: t.Number() }),
  ])
  const found = (schema: typeof Tagged | typeof Untagged, value: object) =>
    checker(schema)
      .issues(value)
      .map(({ path, keyword, params }) => ({ path, keyword, words: params.allowedValues ?? params.requiredProperties }))

  test.each([
    [{ type: 'four' }, { path: 'type', keyword: 'enum', words: ['one', 'two', 'three'] }],
    [{ type: 'three' }, { path: '', keyword: 'required', words: ['size'] }],
    [{}, { path: '', keyword: 'required', words: ['type'] }],
  ])('%j is held to the one that its word belongs to', (value, issue) => {
    expect(found(Tagged, value)).toEqual([issue])
  })

  test('are all named where a word does not tell them apart', () => {
    expect(found(Untagged, { type: 'two' }).map(({ words }) => words)).toEqual([['name'], ['size'], undefined])
  })
})

describe('a query', () => {
  const Query = t.Object({
    limit: t.Optional(t.Integer()),
    ratio: t.Optional(t.Number()),
    live: t.Optional(t.Boolean()),
    q: t.Optional(t.String()),
  })
  const read = (words: Record<string, string>) => checkedQuery(Query)['~standard'].validate(words)

  test.each([
    [{ limit: '7' }, { limit: 7 }],
    [{ limit: '-7' }, { limit: -7 }],
    [{ ratio: '1.5' }, { ratio: 1.5 }],
    [{ live: 'true' }, { live: true }],
    [
      { live: 'false', q: 'true' },
      { live: false, q: 'true' },
    ],
  ])('reads %j as %j', (words, value) => {
    expect(read(words as Record<string, string>)).toEqual({ value })
  })

  test.each<object>([
    { limit: '1.5' },
    { limit: '' },
    { limit: '1e2' },
    { limit: '0x10' },
    { limit: ' 1' },
    { ratio: 'NaN' },
    { live: '1' },
    { live: 'TRUE' },
    { q: 'a\u0000b' },
  ])('rounds and guesses nothing: %j is refused', (words) => {
    expect(read(words as Record<string, string>)).toHaveProperty('issues')
  })
})

test('only what is wrong is explained, which costs more than to check it', () => {
  const explained: unknown[] = []
  const { issues: whole } = checker(Input)
  const request = {
    fits: (schema: object, value: unknown) => checker(schema as typeof Input).is(value),
    explain: (schema: object, value: unknown) => {
      explained.push(value)
      return checker(schema as typeof Input).issues(value)
    },
  }
  expect(findIssues(Input, {}, request)).toMatchObject([{ keyword: 'required' }])
  expect(explained).toEqual([])
  const wrong = { messages: [message('x'), { role: 5, content: 'x' }], stream: 'x' }
  expect(findIssues(Input, wrong, request).map(({ path }) => path)).toEqual(whole(wrong).map(({ path }) => path))
  expect(explained).toEqual([5, 'x'])
})
