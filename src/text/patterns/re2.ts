import { RE2JS, RE2Set } from 're2js'
import type { TextSpan } from '../span'
import { type PatternCache, patternCaches } from './caches'
import { NotLinear } from './ecma'

/*
 * The one file that reads private parts of `re2js`: its public API bounds the memory of a set's states, but neither
 * says how much of it is in use nor gives it back. tests/text/re2.test.ts fails when a release changes these parts.
 */
type Parts = {
  regexps: unknown[]
  prog: { inst: readonly { runes?: readonly number[] | null }[]; numInst(): number }
  dfa: { memBudget: number; clearCache(): void }
}

/** Bytes of states one pattern may cache while it reads texts: random text would make them megabytes. */
const MOST_MEMORY = 256 * 1024

/**
 * Compiles an expression of RE2. `find` needs a second program, which is compiled on first use. `steps` are the
 * instructions of its program, `weight` the bytes it keeps without its cache.
 * @throws NotLinear
 */
export function openRe2(source: string) {
  const tester = compiled(source)
  const parts = partsOf(tester)
  const weight = weightOf(parts)
  const key = {}
  let finder: RE2JS | undefined
  const cache: PatternCache = {
    weight: () => usedBy(parts) + (finder ? 2 * weight : 0),
    forget() {
      parts.dfa.clearCache()
      finder = undefined
    },
  }
  return {
    weight,
    steps: parts.prog.numInst(),
    test(text: string): boolean {
      const isIn = tester.match(text).length > 0
      patternCaches.used(key, cache)
      return isIn
    },
    find(text: string): Generator<TextSpan> {
      finder ??= RE2JS.compile(source)
      patternCaches.used(key, cache)
      return matches(finder, text)
    },
  }
}

/** A set of one pattern, because only a set's memory can be bounded. */
export function compiled(source: string): RE2Set {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, MOST_MEMORY)
    set.add(source)
    set.compile()
    // The parsed expressions are not used after compiling.
    partsOf(set).regexps = []
    return set
  } catch (error) {
    throw new NotLinear(reason(error))
  }
}

export const partsOf = (set: RE2Set): Parts => set as unknown as Parts

/** Bytes of the states cached so far. */
export const usedBy = ({ dfa }: Parts): number => MOST_MEMORY - dfa.memBudget

function* matches(expression: RE2JS, text: string): Generator<TextSpan> {
  const matcher = expression.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) yield { start: matcher.start(), end: matcher.end() }
}

const BASE_BYTES = 4_096
const STEP_BYTES = 400
const RANGE_BYTES = 8

/** In bytes, about: steps of the program, and the characters each of them takes. */
const weightOf = ({ prog }: Parts): number =>
  prog.inst.reduce((sum, { runes }) => sum + STEP_BYTES + RANGE_BYTES * (runes?.length ?? 0), BASE_BYTES)

const reason = (error: unknown): string => (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120)
