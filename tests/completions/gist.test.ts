import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { gistOf } from '../../src/completions/near'
import { effortOf } from '../support/effort'
import { SAME } from './wordings'
import { APART } from './wordings-apart'

/** Ways of opening one question, and one order, and the marks that may end them. */
const OPENINGS = {
  question: {
    heads: [
      'What is',
      'what is',
      'Hello, what is',
      'Hi there! What is',
      'Tell me what is',
      'Could you tell me what is',
    ],
    ends: ['', '?'],
  },
  request: {
    heads: ['Explain', 'explain', 'Please explain', 'Can you explain', 'I want you to explain', 'Hey, please explain'],
    ends: ['', '.'],
  },
}
const opening = fc.constantFrom(...Object.values(OPENINGS))
const WORDS =
  'the a cat cats Rome rome not never no 3 30 3.5 -5 +5 five fifty km miles than before after with without James Adams x - * > < = not, five, all few 2024-05-05 5/6 f(x) a,b C++ Zürich nicht pas trois'
const content = fc
  .array(fc.constantFrom(...WORDS.split(' ')), { minLength: 2, maxLength: 9 })
  .map((words) => `${words.join(' ')} end`)
/** One character put in, taken out or put in place of another. */
const edit = fc.record({
  at: fc.nat(),
  gone: fc.integer({ min: 0, max: 2 }),
  put: fc.constantFrom('', ...',.;:!?-+*/<>=%$€ 0159aAsSxéß\'"`()²½'),
})

describe('the gist of a prompt', () => {
  test('changes with any character behind its opening', () => {
    const cases = fc.tuple(opening, fc.nat(), fc.nat(), fc.nat(), content, edit)
    let compared = 0
    fc.assert(
      fc.property(cases, ([{ heads, ends }, head, other, end, one, { at, gone, put }]) => {
        const place = at % (one.length - ' end'.length)
        const two = `${one.slice(0, place)}${put}${one.slice(place + gone)}`
        if (squeezed(one) === squeezed(two)) return true
        const first = gistOf(`${pick(heads, head)} ${one}${pick(ends, end)}`)
        const second = gistOf(`${pick(heads, other)} ${two}${pick(ends, end + 1)}`)
        if (first !== null && second !== null) compared++
        return first === null || first !== second
      }),
      { numRuns: 5_000 },
    )
    expect(compared).toBeGreaterThan(1_000)
  })

  test('changes with the order of its words', () => {
    fc.assert(
      fc.property(opening, content, ({ heads }, one) => {
        const two = one.split(' ').toReversed().join(' ')
        return one === two || gistOf(`${heads[0]} ${one}`) !== gistOf(`${heads[0]} ${two}`)
      }),
      { numRuns: 2_000 },
    )
  })

  test('stays the same with every way of opening and ending it', () => {
    fc.assert(
      fc.property(opening, fc.nat(), fc.nat(), content, ({ heads, ends }, head, end, said) => {
        const gist = gistOf(`${heads[0]} ${said}`)
        const loose = `  ${pick(heads, head)} ${said}`.replaceAll(' ', '  ')
        return gist !== null && gistOf(`${loose}${pick(ends, end)} `) === gist
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(SAME)('of %j is that of %j', (one, other) => {
    expect(gistOf(one)).not.toBeNull()
    expect(gistOf(other)).toBe(gistOf(one))
  })

  const apart = Object.entries(APART).flatMap(([what, pairs]) => pairs.map((pair) => [what, ...pair] as const))
  test.each(apart)('tells %s: %j is not %j', (_, one, other) => {
    const [first, second] = [gistOf(one), gistOf(other)]
    expect(first === null || first !== second).toBe(true)
  })

  test.each([
    ['text with lines', 'Explain these\nb\na'],
    ['text that is brought along', 'Explain this: i has a apple'],
    ['two sentences', 'What is love? Explain it'],
    ['a quotation', 'What is “love”?'],
    ['capitals only', 'WHAT IS THE CAPITAL OF US'],
    ['what opens in no known way', 'Photosynthesis in brief'],
    ['nothing but marks', '?!'],
    ['thousands of words', `What is ${'word '.repeat(401)}`],
  ])('is not made of %s', (_, prompt) => {
    expect(gistOf(prompt)).toBeNull()
  })

  test.each([
    ['quotation marks', '"'.repeat(2_000)],
    ['dots', `${'a.'.repeat(999)}@`],
    ['blanks', `what${' '.repeat(1_900)}is`],
    ['blanks before a mark', `what is ${'a '.repeat(900)}${' '.repeat(150)}?`],
    ['greetings', 'hello, '.repeat(280)],
    ['pleas', 'please '.repeat(280)],
    ['numbers', '1,'.repeat(999)],
    ['marks', '?'.repeat(1_999)],
    ['marks and blanks', `${'? '.repeat(500)}${' '.repeat(900)}x`],
  ])('of %s is found in no time', async (_, prompt) => {
    expect(await effortOf(() => gistOf(prompt))).toBeLessThan(100)
  })
})

const pick = (from: readonly string[], at: number): string => from[at % from.length]!
const squeezed = (text: string): string => text.replace(/ {2,}/g, ' ').trim()
