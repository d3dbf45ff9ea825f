import { describe, expect, test } from 'bun:test'
import { evaluate, isTrue } from '../../src/text/evaluate'
import { ExpressionFault, parseExpression } from '../../src/text/expression'
import { fillIn, placeholdersOf, TooMuchText } from '../../src/text/template'
import { seededRandom } from '../support/random'

const VALUES = {
  trigger: { total: 120, tags: ['new', 'vip'], name: 'Ada', nothing: null, size: '12', address: { city: 'Wien' } },
  steps: Object.assign([{ output: { text: 'Yes, it is urgent', result: true } }], { Check: { output: { n: 3 } } }),
  previous: { output: { status: 200 } },
  run: { id: 'r1' },
  workflow: { id: 'w1' },
  now: '2026-11-22T10:00:00.000Z',
}
const resultOf = (text: string) => evaluate(parseExpression(text), VALUES)

describe('the value of an expression (contract 10)', () => {
  test.each<[string, unknown]>([
    ['trigger.total > 100', true],
    ['trigger.total <= 120 && trigger.total >= 120', true],
    ['trigger.total == "120"', true],
    ['trigger.size < 100', true],
    ['trigger.size < "100"', false],
    ['trigger.name == "ada"', false],
    ['trigger.name != "ada"', true],
    ['trigger.missing == null', true],
    ['trigger.missing.deeper == null', true],
    ['trigger.nothing == 0', false],
    ['trigger.name > 5', false],
    ['trigger.tags contains "vip"', true],
    ['trigger.tags contains "VIP"', false],
    ['trigger.address contains "city"', true],
    ['steps[0].output.text contains "URGENT"', true],
    ['steps["Check"].output.n == 3', true],
    ['steps[0].output.text matches "^yes\\\\b"', true],
    ['trigger.tags matches "vip"', false],
    ['trigger.missing matches "."', false],
    ['previous.output.status == 200 && !(trigger.total < 1)', true],
    ['trigger.name', 'Ada'],
    ['!trigger.tags', false],
    ['!trigger.nothing', true],
    ['false || trigger.total', true],
    ['now > "2026-01-01"', true],
    ['trigger.constructor == null', true],
    ['trigger.__proto__ == null', true],
    ['trigger.tags.length == null', false],
  ])('%s', (text, value) => {
    expect(resultOf(text)).toEqual(value as never)
  })

  test('of a pattern that has to backtrack is refused, when it is parsed or when it is computed', () => {
    expect(() => parseExpression('trigger.a matches "(a)\\\\1"')).toThrow(ExpressionFault)
    const computed = parseExpression('trigger.name matches trigger.pattern')
    expect(() => evaluate(computed, { trigger: { name: 'a', pattern: '(a)\\1' } })).toThrow(ExpressionFault)
    expect(() => evaluate(computed, { trigger: { name: 'a', pattern: 7 } })).toThrow('no text')
  })

  test('of a pattern reads the whole text, or is refused for one that is too long: never of a part of it', () => {
    const ends = parseExpression('trigger.text matches "end$"')
    const of = (text: string) => evaluate(ends, { trigger: { text } })
    expect(of(`${'a'.repeat(49_997)}end`)).toBe(true)
    expect(() => of(`${'a'.repeat(49_998)}end`)).toThrow('has 50001 characters; patterns read at most 50,000')
  })

  test('exists for every tree over every value, and a comparison is never both less and more', () => {
    const { pick } = seededRandom(41)
    const atoms = [
      'null',
      'true',
      '0',
      '-2.5',
      '""',
      '"a"',
      '"7"',
      'trigger',
      'trigger.tags',
      'trigger.total',
      'steps',
      'now',
    ]
    const ops = ['==', '!=', '<', '<=', '>', '>=', 'contains', '&&', '||']
    for (let n = 0; n < 3_000; n++) {
      const [left, right] = [pick(atoms), pick(atoms)]
      const text = `(${left} ${pick(ops)} ${right}) ${pick(['&&', '||'])} !(${pick(atoms)} ${pick(ops)} ${pick(atoms)})`
      expect(typeof resultOf(text), text).toBe('boolean')
      expect(resultOf(`(${left} < ${right}) && (${left} > ${right})`)).toBe(false)
      expect(resultOf(`${left} == ${right}`)).toBe(!resultOf(`${left} != ${right}`))
      expect(isTrue(resultOf(`!(${left} && ${right})`))).toBe(isTrue(resultOf(`!(${left}) || !(${right})`)))
    }
  })
})

describe('a template (contract 10)', () => {
  const filled = (value: unknown) => {
    const missing: string[] = []
    return { value: fillIn(value, VALUES, (name) => missing.push(name)), missing }
  }

  test('keeps the type of a lone placeholder, and writes others out', () => {
    const { value, missing } = filled({ a: '{{trigger.total}}', b: ['Hi {{ trigger.name }}: {{trigger.tags}}'], c: 5 })
    expect(value).toEqual({ a: 120, b: ['Hi Ada: ["new","vip"]'], c: 5 })
    expect(missing).toEqual([])
  })

  test('is empty where a path is missing, and says which', () => {
    expect(filled('{{trigger.nope}}')).toEqual({ value: '', missing: ['trigger.nope'] })
    expect(filled('a{{steps[9].output.x}}b')).toEqual({ value: 'ab', missing: ['steps[9].output.x'] })
    expect(filled('{{trigger.nothing}}')).toEqual({ value: '', missing: [] })
  })

  test('leaves names, lone braces and what was filled in alone', () => {
    expect(filled({ '{{trigger.name}}': '{{' }).value).toEqual({ '{{trigger.name}}': '{{' })
    const values = { trigger: { sly: '{{run.id}}' } }
    expect(fillIn('{{trigger.sly}} {{trigger.sly}}', values, () => undefined)).toBe('{{run.id}} {{run.id}}')
  })

  test('names its paths, and refuses what is none', () => {
    expect(placeholdersOf('{{trigger.a}} and {{steps["B c"].output}}')).toEqual([
      ['trigger', 'a'],
      ['steps', 'B c', 'output'],
    ])
    for (const text of ['{{env.KEY}}', '{{}}', '{{1 + 1}}', '{{trigger.a == 1}}', '{{process.exit()}}']) {
      expect(() => placeholdersOf(text), text).toThrow(ExpressionFault)
    }
  })

  test('does not grow without end', () => {
    const values = { trigger: { long: 'x'.repeat(600_000) } }
    expect(() => fillIn(['{{trigger.long}}', '{{trigger.long}}'], values, () => undefined)).toThrow(TooMuchText)
  })
})
