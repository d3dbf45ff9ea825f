import { didYouMean } from '../src/kernel/nearest'
import { type Command, resourceOf, verbOf } from './command'
import { BadWord, usageFailure } from './failure'
import { type Environment, GLOBAL_FLAGS, type Globals } from './globals'
import { type Flag, type Flags, type Reading, readDuration } from './words'

/** The result of parsing a command line. */
export type Input =
  | { type: 'run'; command: Command; input: Record<string, unknown>; globals: Globals }
  | { type: 'help'; about: string[] }

/** Flags of every command, with the one that `--watch=5s` is split into. */
const SHARED: Flags = {
  ...GLOBAL_FLAGS,
  watchEvery: { about: 'pause of --watch', value: 'DURATION', read: readDuration },
}

/** Parses the command line. Pure: opens, prints and runs nothing. @throws CommandFailed with exit code 2 */
export function parse(given: readonly string[], commands: readonly Command[], env: Environment): Input {
  const argv = withoutAliases(given)
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const places = plainWords(own)
  const named = namedCommand(
    places.map((at) => own[at]!),
    commands,
  )
  if (own.includes('-h') || own.includes('--help')) return { type: 'help', about: named }
  if (own.includes('--version')) return parse(['version'], commands, env)
  const command = commands.find(({ path }) => path === named.join(' '))
  const rest = argv.filter((_, at) => !places.slice(0, named.length).includes(at))
  const help = ['svc-admin', ...named, '--help'].join(' ')
  const { words, flags, unknown } = readFlags(rest, { ...command?.flags, ...SHARED }, help)
  if (!command) {
    const [word] = words
    const group = ['svc-admin', ...named].join(' ')
    if (word !== undefined) {
      const hint = didYouMean(word, childrenOf(named[0] ?? null, commands))
      throw usageFailure(`There is no command "${group} ${word}".${hint}`, `${group} --help`)
    }
    if (unknown) throw usageFailure(`There is no flag ${unknown}.`, 'svc-admin --help lists the flags')
    return { type: 'help', about: named }
  }
  const title = command.path
  if (unknown) {
    const known = [...Object.keys(command.flags), ...Object.keys(GLOBAL_FLAGS), 'help', 'version']
    const hint = didYouMean(
      unknown,
      known.map((name) => `--${kebab(name)}`),
    )
    throw usageFailure(`${title} has no flag ${unknown}.${hint}`, help)
  }
  const absent = Object.entries(command.flags).find(([name, { needed }]) => needed !== undefined && !(name in flags))
  if (absent) throw usageFailure(`${title} needs --${kebab(absent[0])}.`, absent[1].needed)
  const args = Object.entries(command.args)
  const missing = args.find(([, { required }], at) => required && words[at] === undefined)
  if (missing) throw usageFailure(`${title} needs ${missing[0].toUpperCase()}: ${missing[1].about}.`, help)
  if (words.length > args.length && !args.at(-1)?.[1].variadic)
    throw usageFailure(`${title} takes fewer arguments.`, help)
  const input: Record<string, unknown> = {}
  for (const [at, [name, arg]] of args.entries()) {
    const readOne = (word: string, before?: unknown) => {
      // An unset variable would turn a request for one item into a request for the list.
      if (word === '') throw usageFailure(`${name.toUpperCase()} is empty.`)
      return readNamed<unknown>(name.toUpperCase(), word, arg, before)
    }
    if (arg.variadic) input[name] = words.slice(at).reduce<unknown>((before, word) => readOne(word, before), [])
    else input[name] = words[at] === undefined ? undefined : readOne(words[at])
  }
  const globals: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(flags)) (name in command.flags ? input : globals)[name] = value
  // Omitted flags take the value of their environment variable.
  for (const [name, flag] of Object.entries<Flag>(GLOBAL_FLAGS)) {
    const word = flag.env && env[flag.env]
    if (word && !(name in globals)) globals[name] = readNamed(`${flag.env} (--${kebab(name)})`, word, flag)
  }
  return { type: 'run', command, input, globals: globals as Globals }
}

/** Parses the flags among the words of a command line. `unknown` is the first that the command does not have. */
function readFlags(argv: readonly string[], known: Flags, help: string) {
  const byName = new Map(
    Object.entries(known).flatMap(([name, flag]) => [
      [`--${kebab(name)}`, [name, flag] as const],
      [`-${flag.short}`, [name, flag] as const],
    ]),
  )
  // A bare --watch must not consume the next word.
  const queue = argv.flatMap((word) => {
    const [, pause] = /^(?:--watch|-w)=(.+)$/.exec(word) ?? []
    return pause ? ['--watch', `--watch-every=${pause}`] : [word]
  })
  const words: string[] = []
  const flags: Record<string, unknown> = {}
  let unknown: string | undefined
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') {
      words.push(...queue.splice(0))
      // `-` is stdin, and `-5.00` an amount.
    } else if (!/^-[^\d]/.test(word)) words.push(word)
    else {
      const [written, attached] = splitFlag(word)
      const [name, flag] = byName.get(written) ?? []
      if (!name || !flag) unknown ??= written
      else if (flag.value !== undefined) {
        const value = attached ?? queue.shift()
        if (value === undefined || (attached === undefined && byName.has(splitFlag(value)[0])))
          throw usageFailure(`--${kebab(name)} needs a value after it.`, help)
        flags[name] = readNamed(`--${kebab(name)}`, value, flag, flags[name]) ?? null
      } else {
        flags[name] = true
        if (attached && word.startsWith('--')) throw usageFailure(`${written} takes no value.`, help)
        // `-qy` is `-q -y`.
        if (attached) queue.unshift(`-${attached}`)
      }
    }
  }
  return { words, flags, unknown }
}

/** The flag of a word, and a value written together with it: `--name=ci`, `-ojson`. */
function splitFlag(word: string): [string, string | undefined] {
  if (!word.startsWith('--')) return [word.slice(0, 2), word.slice(2) || undefined]
  const at = word.indexOf('=')
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

/** The noun and verb that the words name, with singulars made plural. */
export function namedCommand([first, second]: readonly string[], commands: readonly Command[]): string[] {
  const top = childrenOf(null, commands).find((word) => word === first || singularOf(word) === first)
  if (top === undefined) return []
  return second !== undefined && childrenOf(top, commands).includes(second) ? [top, second] : [top]
}

export const singularOf = (resource: string): string | null => (/[^s]s$/.test(resource) ? resource.slice(0, -1) : null)

/** The words that may follow: nouns and single-word commands at the top, verbs after a noun. */
export function childrenOf(resource: string | null, commands: readonly Command[]): string[] {
  const inside = commands.filter((command) => resource === null || resourceOf(command) === resource)
  return [...new Set(inside.map((command) => (resource === null ? command.path.split(' ')[0]! : verbOf(command))))]
}

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Parses one word. @throws CommandFailed 2 with a message that starts with the flag's or argument's name */
function readNamed<T>(name: string, word: string, reading: Reading<T>, before?: T): T {
  try {
    return reading.read(word, before)
  } catch (error) {
    if (error instanceof BadWord) throw usageFailure(`${name} ${error.message}.`)
    throw error
  }
}

/** Long command names used in the documentation, and the commands that help lists for them. */
const ALIASES: readonly (readonly [string, string])[] = [
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
export const aliasesOf = (resource: string): (readonly [string, string])[] =>
  ALIASES.filter(([long]) => long.startsWith(`${resource} `)).map(
    ([long, short]) => [long.slice(resource.length + 1), short] as const,
  )

/** Replaces alternative names in a command line by the registered ones, wherever flags appear. */
export function withoutAliases(argv: readonly string[]): string[] {
  const places = plainWords(argv)
  const isHelp = argv[places[0]!] === 'help'
  const named = isHelp ? places.slice(1) : places
  for (const [long, short] of ALIASES) {
    const words = long.split(' ')
    if (!words.every((word, next) => argv[named[next]!] === word)) continue
    const gone = new Set(named.slice(0, words.length))
    return argv.flatMap((word, at) => (at === named[0] ? short.split(' ') : gone.has(at) ? [] : [word]))
  }
  return [...argv]
}

/** Flags of every command that take the next word of the command line as their value. */
const VALUED: ReadonlySet<string> = new Set(
  Object.entries(GLOBAL_FLAGS).flatMap(([name, declared]) => {
    if (!('value' in declared) || declared.value === undefined) return []
    const long = `--${kebab(name)}`
    return 'short' in declared && declared.short ? [long, `-${declared.short}`] : [long]
  }),
)

/** Indexes of the words that are neither flags nor values of global flags. */
export function plainWords(argv: readonly string[]): number[] {
  const end = argv.indexOf('--')
  const places = [...argv.keys()].slice(0, end === -1 ? undefined : end)
  return places.filter((at) => !argv[at]!.startsWith('-') && !VALUED.has(argv[at - 1] ?? ''))
}
