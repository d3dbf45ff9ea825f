import { RE2JS } from 're2js'
import { patternSize } from './pattern-size'

/** A stranger's pattern on RE2, whose time is linear in the text: the runtime's own engine backtracks (design 9). */
export type LinearPattern = {
  test(text: string): boolean
  /** Steps of its program; times the length of a text, the most that one test can cost. */
  readonly steps: number
  /** Its length with counts written out. */
  readonly size: number
}

type Options = { mostChars: number; mostSize: number; ignoreCase?: boolean }

/**
 * Compiles what is known to be small enough, which costs a few milliseconds at most.
 * @throws Error with half a sentence (`repeats more than …`) on what is too large and on what RE2 cannot do
 */
export function compileLinear(source: string, { mostChars, mostSize, ignoreCase = false }: Options): LinearPattern {
  if (source.length > mostChars) throw new Error(`is longer than ${mostChars} characters`)
  const size = patternSize(source)
  if (size > mostSize) throw new Error('repeats more than this server runs')
  const expression = compiled(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  return { size, steps: expression.programSize(), test: (text) => expression.test(text) }
}

function compiled(source: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), flags)
  } catch (error) {
    throw new Error(
      `is not a pattern this server runs (RE2 syntax, without look-around and back-references): ${reason(error)}`,
    )
  }
}

const reason = (error: unknown): string => (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120)
