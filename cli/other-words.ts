/** Long command names used in the documentation, and the ones that help lists. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['credits caps set', 'credits caps'],
  ['tiers requests list', 'limits list'],
  ['tiers requests get', 'limits get'],
  ['tiers requests approve', 'limits approve'],
  ['tiers requests deny', 'limits reject'],
  ['tiers requests', 'tiers'],
  ['policies routing corrections list', 'routing corrections'],
  ['routing corrections list', 'routing corrections'],
  ['policies guardrails', 'guardrails'],
  ['policies routing', 'routing'],
]

/** Alternative verbs of a noun, and the commands or nouns they stand for. */
export const otherVerbsOf = (noun: string): (readonly [string, string])[] =>
  OTHERS.filter(([long]) => long.startsWith(`${noun} `)).map(
    ([long, short]) => [long.slice(noun.length + 1), short] as const,
  )

/** Replaces alternative names in a command line by the registered ones. */
export function underTheirNames(argv: readonly string[]): string[] {
  for (const [long, short] of OTHERS) {
    const [words, other] = [long.split(' '), short.split(' ')]
    const at = argv.findIndex((_, start) => words.every((word, next) => argv[start + next] === word))
    const isFirst = at >= 0 && argv.slice(0, at).every((word) => word.startsWith('-'))
    if (isFirst) return [...argv.slice(0, at), ...other, ...argv.slice(at + words.length)]
  }
  return [...argv]
}
