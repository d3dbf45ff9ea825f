import { describe, expect, test } from 'bun:test'
import type { AppError } from '../../src/kernel/errors'
import { shorten } from '../../src/kernel/text'
import { validatorOf } from '../../src/tools/validation-compile'
import { problemsOf } from '../../src/tools/validation-definition'
import { contextOf, openTools, requestOf, wanted } from './world'

const tools = openTools()
const inline = (input_schema: Record<string, unknown>, name = 'mine') => ({ name, description: 'd', input_schema })
const object = (properties: Record<string, unknown>, more: object = {}) => ({ type: 'object', properties, ...more })

const refusalOf = (definitions: Parameters<typeof wanted>[0] & object): AppError => {
  try {
    tools.assemble(wanted(definitions))
  } catch (error) {
    return error as AppError
  }
  throw new Error('was accepted')
}

/** `{a: {a: {a: …}}}` */
const nested = (depth: number): Record<string, unknown> => (depth === 0 ? {} : object({ a: nested(depth - 1) }))
const wideOf = (width: number, part: (at: number) => object) =>
  object(Object.fromEntries(Array.from({ length: width }, (_, at) => [`p${at}`, part(at)])))
const wide = (width: number) => wideOf(width, () => ({}))
const busy = (width: number) =>
  wideOf(width, () => ({ type: 'string', minLength: 1, maxLength: 2, minimum: 3, maximum: 4 }))
const needing = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, ['a']]))
/** Milliseconds this process has worked, whatever else the machine does. */
const effort = () => process.cpuUsage().user / 1_000

describe('a definition (B31)', () => {
  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ['not of an object', { type: 'string' }, 'type', /must be "object"/],
    [
      'with an address outside',
      object({ a: { $ref: 'http://127.0.0.1:9999/s' } }),
      'properties.a.$ref',
      /points outside/,
    ],
    ['with a file outside', object({ a: { $ref: 'other.json#/x' } }), 'properties.a.$ref', /points outside/],
    [
      'with a dynamic address',
      object({ a: { $dynamicRef: 'http://10.0.0.1/' } }),
      'properties.a.$dynamicRef',
      /points outside/,
    ],
    ['with a reference to nothing', object({ a: { $ref: '#/$defs/b' } }), 'properties.a.$ref', /does not exist/],
    ['with a reference to a prototype', { $ref: '#/__proto__' }, '$ref', /does not exist/],
    ['with look-ahead', object({ a: { pattern: '(?=a)b' } }), 'properties.a.pattern', /RE2/],
    ['with a back-reference', object({ a: { pattern: '(a)\\1' } }), 'properties.a.pattern', /RE2/],
    [
      'with a pattern that multiplies',
      object({ a: { pattern: '(a{1000}){1000}' } }),
      'properties.a.pattern',
      /is too large/,
    ],
    ['with a pattern of a book', object({ a: { pattern: 'a'.repeat(1_001) } }), 'properties.a.pattern', /longer than/],
    ['with a pattern as a name', { patternProperties: { '(?!a)': {} } }, 'patternProperties', /RE2/],
    ['of an unknown type', object({ a: { type: 'text' } }), 'properties.a.type', /must be string, number/],
    ['with properties that are a list', { properties: [] }, 'properties', /object of schemas/],
    ['with a number for a schema', object({ a: 1 }), 'properties.a', /must be a schema/],
    ['with no choice', object({ a: { anyOf: [] } }), 'properties.a.anyOf', /list of schemas/],
    ['with an empty enum', object({ a: { enum: [] } }), 'properties.a.enum', /at least one/],
    ['with a length below zero', object({ a: { minLength: -1 } }), 'properties.a.minLength', /whole number/],
    ['with required that is true', object({ a: { required: true } }), 'properties.a.required', /list of strings/],
    ['nested too deep', nested(40), `${Array(33).fill('properties.a').join('.')}`, /deeper than/],
    ['with too many parts', wide(300), 'properties.p199', /at most 200/],
    ['with too many keywords', busy(150), 'properties.p119.minimum', /at most 600/],
    ['with too many dependencies', object({}, { dependentRequired: needing(601) }), 'dependentRequired', /at most 600/],
  ])('%s is refused, and the path says where', (_, schema, at, problem) => {
    const error = refusalOf({ inline: [inline({}, 'fine'), inline(schema)] })
    expect(error.code).toBe('validation_error')
    expect(error.param).toBe(shorten(`tools[1].input_schema.${at}`, 200))
    expect(error.message).toMatch(problem)
  })

  test('larger than it may be is refused without a look inside', () => {
    const before = effort()
    const error = refusalOf({ inline: [inline({ description: 'x'.repeat(10 * 1024 * 1024) })] })
    expect(error.message).toContain('at most 32768 are allowed')
    expect(effort() - before).toBeLessThan(200)
  })

  test.each([
    ['65 tools', Array.from({ length: 65 }, (_, at) => inline({}, `t${at}`)), /at most 64/],
    ['two of one name', [inline({}), inline({})], /is also the name of tools\[0\]/],
    ['a name with a space', [inline({}, 'a b')], /must match/],
    ['a name with an escape', [inline({}, '\u001b[31m')], /must match/],
    ['a name of 65 characters', [inline({}, 'a'.repeat(65))], /must match/],
  ])('%s are refused (L5)', (_, definitions, problem) => {
    expect(refusalOf({ inline: definitions }).message).toMatch(problem)
  })

  test('named __proto__ or as a tool of ours is a tool like any other (L5)', async () => {
    const toolset = tools.assemble(wanted({ inline: [inline({}, '__proto__'), inline({}, 'browser_navigate')] }))
    for (const name of ['__proto__', 'browser_navigate']) {
      expect((await tools.run(toolset, requestOf(name), contextOf())).result).toEqual({ acknowledged: true })
    }
  })

  test('with patterns that cost more than a request may is refused before they cost it', () => {
    const costly = (at: number) =>
      inline(
        wideOf(100, (part) => ({ pattern: `^a{900}${at}x${part}$` })),
        `t${at}`,
      )
    const before = effort()
    const error = refusalOf({ inline: Array.from({ length: 64 }, (_, at) => costly(at)) })
    expect(error.message).toContain('too complex together')
    expect(effort() - before).toBeLessThan(500)
  })

  test('says every problem it has', () => {
    expect(problemsOf(object({ a: { type: 'x' }, b: { pattern: '(' }, c: { $ref: 'x' } }), 's')).toHaveLength(3)
  })
})

describe('checking arguments', () => {
  test.each<[string, Record<string, unknown>, unknown, RegExp | null]>([
    ['a pattern', object({ a: { pattern: '^(a|a)*b$' } }), { a: 'aab' }, null],
    ['another pattern', object({ a: { pattern: '^(a|a)*b$' } }), { a: 'aac' }, /"a" must match pattern/],
    ['two patterns', object({ a: { pattern: '^a$' }, b: { pattern: '^b$' } }), { a: 'a', b: 'a' }, /"b" must match/],
    ['a pattern of ECMAScript', object({ a: { pattern: '^\\u0041\\d{2}[^]$' } }), { a: 'A12\n' }, null],
    ['a name by pattern', { patternProperties: { '^n_': { type: 'number' } } }, { n_a: 'x' }, /"n_a" must be number/],
    [
      'an inner path',
      object({ a: { items: object({ b: { enum: [1, 2] } }) } }),
      { a: [{ b: 1 }, { b: 3 }] },
      /"a\[1\]\.b" must be one of/,
    ],
    [
      'recursion',
      object({ next: { $ref: '#' }, n: { type: 'integer' } }),
      { next: { next: { n: 'x' } } },
      /"next\.next\.n" must be integer/,
    ],
    [
      '$defs',
      object({ a: { $ref: '#/$defs/s' } }, { $defs: { s: { type: 'string' } } }),
      { a: 1 },
      /"a" must be string/,
    ],
    [
      'an anchor',
      object({ a: { $ref: '#s' } }, { $defs: { s: { $anchor: 's', type: 'string' } } }),
      { a: 1 },
      /must be string/,
    ],
    ['an $id', { $id: 'http://127.0.0.1:9999/s', ...object({ a: { type: 'string' } }) }, { a: 1 }, /must be string/],
    [
      'an old $schema',
      { $schema: 'http://json-schema.org/draft-07/schema#', ...object({ a: { const: 1 } }) },
      { a: 2 },
      /must be 1/,
    ],
    [
      'unique entries',
      object({ a: { uniqueItems: true } }),
      {
        a: [
          { b: 1, c: 2 },
          { c: 2, b: 1 },
        ],
      },
      /duplicate/,
    ],
    ['an unknown keyword', object({ a: { mood: 'good', format: 'nothing' } }), { a: 'x' }, null],
    ['a member named costs', object({ costs: { type: 'integer' } }), { costs: 'x' }, /"costs" must be integer/],
  ])('%s', (_, schema, value, problem) => {
    expect(problemsOf(schema, 's')).toEqual([])
    const text = validatorOf(schema)(value)
    if (problem) expect(text).toMatch(problem)
    else expect(text).toBeNull()
  })

  test('the same definition in two requests is compiled once', () => {
    expect(validatorOf(object({ z: { type: 'null' } }))).toBe(validatorOf(object({ z: { type: 'null' } })))
  })

  /** Schemas that do nothing but multiply; each check must end, and soon. */
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      at === 39 ? {} : { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${at + 1}` })) },
    ]),
  )
  const deep = (levels: number): unknown => (levels ? { a: deep(levels - 1) } : {})
  test.each<[string, Record<string, unknown>, unknown]>([
    ['itself', { $ref: '#' }, {}],
    ['itself through another', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#' } } }, {}],
    ['two of each', { $ref: '#/$defs/d0', $defs: doubling }, {}],
    ['twice at each level', { allOf: [object({ a: { $ref: '#' } }), object({ a: { $ref: '#' } })] }, deep(50)],
    [
      'a costly pattern over a long text',
      object({ a: { pattern: '^((a?){20}){20}$' } }),
      { a: `${'a'.repeat(60_000)}!` },
    ],
    [
      'costly patterns for many names',
      { patternProperties: { '(x+x+)+y$': {} } },
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`${'x'.repeat(20)}${at}`, 1])),
    ],
  ])('%s ends within a blink', (_, schema, value) => {
    expect(problemsOf(schema, 's')).toEqual([])
    validatorOf(schema)(1)
    const before = effort()
    expect(validatorOf(schema)(value)).toContain('take too long')
    expect(effort() - before).toBeLessThan(400)
  })
})
