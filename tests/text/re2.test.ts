import { describe, expect, test } from 'bun:test'
import { RE2JS } from 're2js'
import { compiled, openRe2, partsOf, usedBy } from '../../src/text/patterns/linear'

/** Every way through the alternatives is a state of its own. */
const SOURCE = '(?:a|b)*a(?:a|b){8}c'
const text = Array.from({ length: 2_000 }, (_, at) => ((at * 7919) % 13 < 6 ? 'a' : 'b')).join('')

describe('the private parts of re2js that are read', () => {
  test('the program has as many instructions as its public size says, with the ranges of each', () => {
    const { prog } = partsOf(compiled(SOURCE))
    expect(prog.numInst()).toBe(RE2JS.compile(SOURCE).programSize())
    expect(prog.inst).toHaveLength(prog.numInst())
    expect(prog.inst.some(({ runes }) => (runes?.length ?? 0) > 0)).toBe(true)
    expect(openRe2('[a-z]').weight).toBeLessThan(openRe2('\\pL').weight)
  })

  test('states take from the budget while a text is read, and are given back', () => {
    const set = compiled(SOURCE)
    const parts = partsOf(set)
    const before = usedBy(parts)
    expect(before).toBeGreaterThanOrEqual(0)
    expect(set.match(text)).toEqual([])
    expect(usedBy(parts)).toBeGreaterThan(before + 1_000)
    parts.dfa.clearCache()
    expect(usedBy(parts)).toBe(before)
    expect(set.match(`${text}aaaaaaaaac`)).toEqual([0])
  })

  test('a set matches without its parsed expressions', () => {
    const set = compiled('b+c')
    expect(partsOf(set).regexps).toEqual([])
    expect({ hasAbbc: set.match('abbc'), hasAbb: set.match('abb') }).toEqual({ hasAbbc: [0], hasAbb: [] })
  })
})
