import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { gistOf } from '../../src/completions/near'

const WORDS = 'the cat dog of Rome not never 3 30 km miles buys sells before after with without "a b" x! -5 5 > <'
const sentence = fc
  .array(fc.constantFrom(...WORDS.split(' ')), { minLength: 2, maxLength: 9 })
  .map((all) => all.join(' '))

describe('the gist of a prompt', () => {
  test('changes with every word that is changed', () => {
    fc.assert(
      fc.property(sentence, fc.nat(), fc.constantFrom('Paris', 'nine', '7', 'not', 'kg'), (text, at, other) => {
        const words = text.split(' ')
        words[at % words.length] = `${other}${other === 'Paris' ? 'x' : ''}`
        const changed = words.join(' ')
        const [one, two] = [gistOf(text), gistOf(changed)]
        return text === changed || one === null || two === null || one !== two
      }),
      { numRuns: 2_000 },
    )
  })

  test('changes with the order of its words', () => {
    fc.assert(
      fc.property(sentence, (text) => {
        const turned = text.split(' ').toReversed().join(' ')
        const [one, two] = [gistOf(text), gistOf(turned)]
        return text === turned || one === null || two === null || one !== two
      }),
      { numRuns: 2_000 },
    )
  })

  test('does not change with spaces, the mark at its end or the case of its first letter', () => {
    fc.assert(
      fc.property(sentence, (text) => {
        const plain = `the ${text.replaceAll('"', '')} end`
        const loose = ` ${plain[0]!.toUpperCase()}${plain.slice(1).replaceAll(' ', '  ')}. `
        return gistOf(loose) === gistOf(plain)
      }),
    )
  })

  test.each([
    ['text with lines', 'Sort these:\nb\na'],
    ['text that is brought along', 'Fix this: i has a apple'],
    ['capitals only', 'WHAT IS THE CAPITAL OF US'],
    ['nothing but marks', '?!'],
    ['thousands of words', 'word '.repeat(401)],
  ])('is not made of %s', (_, prompt) => {
    expect(gistOf(prompt)).toBeNull()
  })

  test.each([
    ['quotation marks', '"'.repeat(2_000)],
    ['open quotations', '„'.repeat(2_000)],
    ['an address without an end', 'a'.repeat(1_999)],
    ['dots', `${'a.'.repeat(999)}@`],
    ['spaces', `what${' '.repeat(1_900)}is`],
    ['greetings', 'hello, '.repeat(280)],
    ['numbers', '1,'.repeat(999)],
  ])('of %s is found in no time', (_, prompt) => {
    const started = performance.now()
    gistOf(prompt)
    expect(performance.now() - started).toBeLessThan(100)
  })
})
