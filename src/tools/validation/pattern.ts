import { RE2JS } from 're2js'
import { spend } from './fuel'

const MAX_PATTERN_CHARS = 1_000

type Pattern = { test(text: string): boolean; toString(): string }

/** What a look at a stranger's text costs before its first character, in steps of fuel. */
const STEPS_TO_BEGIN = 100

/**
 * A stranger's pattern on RE2, in time linear in the text: the runtime's own engine backtracks and then
 * answers wrongly (design 9). Throws a sentence on what RE2 cannot do.
 */
export function readPattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`is longer than ${MAX_PATTERN_CHARS} characters`)
  const expression = compile(source)
  const size = expression.programSize()
  return {
    test(text) {
      spend(STEPS_TO_BEGIN + (text.length * size) / 4)
      return expression.test(text)
    },
    // The validator keeps patterns apart by how they print.
    toString: () => `/${source}/u`,
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (error) {
    throw new Error(
      `is not a pattern this server runs (RE2 syntax, without look-around and back-references): ${reason(error)}`,
    )
  }
}

const reason = (error: unknown): string => (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120)
