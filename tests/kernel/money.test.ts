import { describe, expect, test } from 'bun:test'
import { centsToMicro, MICRO_PER_CENT, microToCents, spellCents } from '../../src/kernel/money'

describe('money', () => {
  test('a cent is a million micro-cents', () => {
    expect(centsToMicro(1)).toBe(MICRO_PER_CENT)
    expect(centsToMicro(0.01)).toBe(10_000)
    expect(microToCents(1)).toBe(0.000001)
  })

  test('a million charges of a hundredth of a cent sum exactly (G16)', () => {
    const each = centsToMicro(0.01)
    let sum = 0
    for (let count = 0; count < 1_000_000; count++) sum += each
    expect(microToCents(sum)).toBe(10_000)
  })

  test.each([
    [0, '0.00'],
    [1_000_000, '1.00'],
    [123_456_789, '123.46'],
    [5_000, '0.005'],
    [1, '0.000001'],
    [-2_500_000, '-2.50'],
  ])('%i micro-cents are spelled %s', (micro, words) => {
    expect(spellCents(micro)).toBe(words)
  })
})
