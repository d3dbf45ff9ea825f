import { describe, expect, test } from 'bun:test'
import { ExpressionFault, parseExpression } from '../../src/text/expression'
import { evaluate, fillIn, isTrue, placeholdersOf, TooMuchText } from '../../src/text/template'
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

describe('the value of an expression (docs/api.md 10)', () => {
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
    ['"Große Straße" contains "STRASSE"', true],
    ['"İSTANBUL" contains "istanbul"', true],
    ['"ΟΔΟΣ ΚΑΙ" contains "οδοσ"', true],
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
    const atoms = 'null true 0 -2.5 "" "a" "7" trigger trigger.tags trigger.total steps now'.split(' ')
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

describe('a template (docs/api.md 10)', () => {
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
    expect(filled('{{trigger.nothing}}')).toEqual({ value: null, missing: [] })
    expect(filled('a{{trigger.nothing}}b')).toEqual({ value: 'ab', missing: [] })
  })

  test('leaves names, lone braces and what was filled in alone', () => {
    expect(filled({ '{{trigger.name}}': '{{' }).value).toEqual({ '{{trigger.name}}': '{{' })
    const values = { trigger: { sly: '{{run.id}}' } }
    expect(fillIn('{{trigger.sly}} {{trigger.sly}}', values, () => undefined)).toBe('{{run.id}} {{run.id}}')
  })

  const URLS = { base: 'https://api.example/v1', host: 'api.example', q: 'R&D=fun / ü?#', tags: ['a', 'b c'] }
  test.each([
    [
      'https://x.example/a?name={{trigger.q}}&page=2',
      'https://x.example/a?name=R%26D%3Dfun%20%2F%20%C3%BC%3F%23&page=2',
    ],
    ['http://x.example/{{trigger.q}}/b', 'http://x.example/R%26D%3Dfun%20%2F%20%C3%BC%3F%23/b'],
    [
      'https://x.example?q={{trigger.tags}}#{{trigger.q}}',
      /^https:\/\/x\.example\?q=%5B%22a%22%2C%22b%20c%22%5D#R%26D%3D/,
    ],
    // The whole of it and the origin are addresses, not values in one.
    ['{{trigger.base}}', URLS.base],
    ['{{trigger.base}}/users/{{trigger.q}}', /^https:\/\/api\.example\/v1\/users\/R%26D/],
    ['{{trigger.base}}?q={{trigger.q}}', /^https:\/\/api\.example\/v1\?q=R%26D/],
    ['https://{{trigger.host}}/{{trigger.host}}', 'https://api.example/api.example'],
    ['https://{{trigger.host}}:{{trigger.port}}/?{{trigger.q}}', /^https:\/\/api\.example:\/\?R%26D/],
    // No URL, but a sentence.
    ['https://x.example/ for {{trigger.q}}', `https://x.example/ for ${URLS.q}`],
    ['{{trigger.q}}/{{trigger.q}}', `${URLS.q}/${URLS.q}`],
    ['Look at {{trigger.base}}?q={{trigger.q}}', `Look at ${URLS.base}?q=${URLS.q}`],
  ])('percent-encodes what stands in a URL: %s', (text, wanted) => {
    const { url } = fillIn({ url: text }, { trigger: URLS }, () => undefined)
    if (typeof wanted === 'string') expect(url).toBe(wanted)
    else expect(url).toMatch(wanted)
  })

  test('refuses a value that would lead out of the path of a URL', () => {
    const fill = (text: string, q: string) => fillIn(text, { trigger: { q } }, () => undefined)
    for (const q of ['.', '..'])
      expect(() => fill('https://x.example/f/{{trigger.q}}/end', q)).toThrow('leads elsewhere')
    expect(fill('https://x.example/f/{{trigger.q}}?x={{trigger.q}}', 'a..')).toBe('https://x.example/f/a..?x=a..')
    expect(fill('https://x.example/f?x={{trigger.q}}', '..')).toBe('https://x.example/f?x=..')
  })

  test('escapes what stands in a text of JSON, and encodes what stands in a form', () => {
    const trigger = { q: 'say "hi"\nnow \\', n: 3, amp: 'R&D = fun' }
    const body = fillIn('{"note": "\\"{{trigger.q}}", "n": {{trigger.n}}}', { trigger }, () => undefined)
    expect(JSON.parse(body)).toEqual({ note: `"${trigger.q}`, n: 3 })
    expect(fillIn('{not JSON: "{{trigger.q}}"}', { trigger }, () => undefined)).toContain('say "hi"')
    expect(fillIn('a={{trigger.amp}}&b=2', { trigger }, () => undefined, true)).toBe('a=R%26D%20%3D%20fun&b=2')
  })

  test('reads back what it encoded, whatever it is', () => {
    for (const value of [
      'two words',
      '100 %',
      '+47 22',
      'a+b',
      "it's (ok)*!",
      '世界 🌍',
      '../../etc',
      '\ud800',
      '"<>\\^`{|}',
    ])
      for (const text of ['https://x.example/a/{{trigger.v}}/z', 'https://x.example/a?v={{trigger.v}}&z=1']) {
        const url = new URL(fillIn(text, { trigger: { v: value } }, () => undefined))
        const read = text.includes('?') ? url.searchParams.get('v') : decodeURIComponent(url.pathname.split('/')[2]!)
        expect(read).toBe(value.toWellFormed())
      }
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
