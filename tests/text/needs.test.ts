import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldedGramsOf, gramsOf } from '../../src/text/grams'
import { FOREIGN_RULES, OTHER_SCRIPT_RULES, UNLEARNED_RULES } from '../../src/text/injection/languages'
import { RULES } from '../../src/text/injection/rules'
import { hasNeeds, needsOf, wordsNeeded } from '../../src/text/patterns/needs'
import { readCorpus } from '../../src/training/corpus'

const may = (pattern: RegExp, text: string): boolean => hasNeeds(needsOf(pattern), gramsOf(text))

describe('what a text must have for an expression', () => {
  test.each([
    [/ignore (?:all )?rules?/, 'please ignore all rules', 'please obey all rules'],
    [/\b(?:show|print)\b[^.]{0,20}(?:prompt|key)s?/, 'show me the keys', 'show me the way'],
    [/a+bcd{2,3}/, 'aabcdd', 'aabxdd'],
    [/(?<!not )(?:go|stay)(?! home)/, 'he may go', 'he may come'],
    [/[ab]lock(?:ed|ing)/, 'blocking', 'clocking'],
    [/(?:the |your )*(?:limits)/, 'limits', 'limbs'],
    [/忽略(?:之前|以前)[^。]{0,4}指令/, '请忽略之前的指令', '请遵守之前的指令'],
  ])('%p', (pattern, matching, other) => {
    expect(pattern.test(matching)).toBe(true)
    expect(may(pattern, matching)).toBe(true)
    expect(may(pattern, other)).toBe(false)
  })

  test.each([/\w+/, /a?/, /(?:ignore|)/, /x*y?/, /[^a-z]{3}/, /é/i, /(?:😀)?/, /\p{L}\x41/u])(
    'is nothing for %p',
    (pattern) => {
      expect(may(pattern, 'zzz')).toBe(true)
    },
  )

  test('is there wherever an expression matches, whatever the case', () => {
    const piece = fc.constantFrom('ab', 'K', 'sun', 'é', '😀', ' ', '1', 'b')
    const atom = fc.oneof(
      piece,
      fc.constantFrom('[ab]', '[^a]', '\\w', '\\b', '.', '\\u0041', '\\x62', '\\p{L}', '\\.'),
    )
    const part = fc.tuple(atom, fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,2}', '+?'))
    const sequence = fc.array(part, { maxLength: 4 }).map((parts) => {
      return parts.map(([inner, times]) => (inner === '\\b' ? inner : `(?:${inner})${times}`)).join('')
    })
    const pattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((options) => options.join('|'))
    const text = fc.array(fc.oneof(piece, fc.constantFrom('AB', 'ſun', 'K', 'É', '.')), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 2 }), text, (patterns, words) => {
        const expression = new RegExp(patterns.map((one) => `(${one})`).join(''), 'iu')
        const text = words.join('')
        if (!expression.test(text)) return
        expect(hasNeeds(needsOf(expression), foldedGramsOf(text))).toBe(true)
        const needed = wordsNeeded(expression)
        // The long s and the Kelvin sign match `s` and `k`, so callers must look for these, too.
        const folded = text.replaceAll('ſ', 's').replaceAll('K', 'k').toLowerCase()
        if (needed) expect(needed.some((word) => folded.includes(word))).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    [/\bproject-\d{4}\b/i, ['project-']],
    [/(?:acme|zyx) (?:corporation|inc)/i, ['acme corporation', 'acme inc', 'zyx corporation', 'zyx inc']],
    [/\w+@(?:one|two)\.example/i, ['@one.example', '@two.example']],
    [/[a-z]+|\d/i, null],
    [/(?:a1|b2|c3|d4|e5|f6|g7|h8|i9)/i, null],
  ])('is one of few words for %p', (pattern, words) => {
    expect(wordsNeeded(pattern)).toEqual(words)
  })

  test('is there wherever a rule of the scan matches', () => {
    const rules = [...RULES, ...FOREIGN_RULES, ...OTHER_SCRIPT_RULES, ...UNLEARNED_RULES]
    const all = rules.map(({ pattern }) => ({ pattern, needs: needsOf(pattern) }))
    let matches = 0
    for (const { text } of readCorpus('src/training/verdicts/attacks', null)) {
      const plain = text.toLowerCase()
      const grams = gramsOf(plain)
      for (const { pattern, needs } of all) {
        pattern.lastIndex = 0
        if (!pattern.test(plain)) continue
        matches++
        expect(hasNeeds(needs, grams)).toBe(true)
      }
    }
    expect(matches).toBeGreaterThan(100)
  })
})
