import { plainWords } from './plain-words'

/** Long command names used in the documentation, and the ones that help lists. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['restore', 'backup restore'],
  ['top', 'dashboard'],
  ['credits caps set', 'credits caps'],
  ['engines prices show', 'engines prices'],
  ['engines prices set', 'engines set-prices'],
  ['tiers requests list', 'limits list'],
  ['tiers requests get', 'limits get'],
  ['tiers requests approve', 'limits approve'],
  ['tiers requests deny', 'limits reject'],
  ['tiers requests', 'tiers'],
  ['workflows runs list', 'workflows runs'],
  ['workflows runs get', 'workflows runs'],
  ['workflows runs cancel', 'workflows cancel'],
  ['workflows runs resume', 'workflows approve'],
  ['policies routing corrections list', 'routing corrections'],
  ['routing corrections list', 'routing corrections'],
  ['policies guardrails', 'guardrails'],
  ['policies routing', 'routing'],
]

/** Alternative verbs of a noun, and the commands or nouns they stand for. */
export const otherVerbsOf = (resource: string): (readonly [string, string])[] =>
  OTHERS.filter(([long]) => long.startsWith(`${resource} `)).map(
    ([long, short]) => [long.slice(resource.length + 1), short] as const,
  )

/** Replaces alternative names in a command line by the registered ones, wherever flags stand. */
export function underTheirNames(argv: readonly string[]): string[] {
  const places = plainWords(argv)
  const isHelp = argv[places[0]!] === 'help'
  const named = isHelp ? places.slice(1) : places
  for (const [long, short] of OTHERS) {
    const words = long.split(' ')
    if (!words.every((word, next) => argv[named[next]!] === word)) continue
    const gone = new Set(named.slice(0, words.length))
    return argv.flatMap((word, at) => (at === named[0] ? short.split(' ') : gone.has(at) ? [] : [word]))
  }
  return [...argv]
}
