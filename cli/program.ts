import { Command as Commander, Option } from 'commander'
import { didYouMean } from '../src/kernel/nearest'
import { type Command, resourceOf, verbOf } from './command'
import { BadWord, usageFailure } from './failure'
import { GLOBAL_FLAGS, type Globals } from './globals'
import { type Flag, type Flags, type Reading, readDuration } from './words'

/** The result of parsing a command line. */
export type Input =
  | { type: 'run'; command: Command; input: Record<string, unknown>; globals: Globals }
  | { type: 'help'; about: string[] }

type Found = (input: Input) => void

/** The registry as a commander program. It only parses and returns an `Input`. It never prints, runs or exits. */
export function buildProgram(commands: readonly Command[], found: Found): Commander {
  const program = silent(new Commander('svc-admin'))
  addFlags(program, GLOBAL_FLAGS)
  program.addOption(valued('--watch-every', 'pause of --watch', { about: '', read: readDuration }))
  asGroup(program, null, commands, found)
  const resources = new Map<string, Commander>()
  for (const command of commands) {
    const resource = resourceOf(command)
    if (resource && !resources.has(resource)) {
      const made = silent(new Commander(resource))
      const singular = singularOf(resource)
      // Help does not show the singular (docs/operating.md 2.1).
      if (singular) made.alias(singular)
      asGroup(made, resource, commands, found)
      program.addCommand(made)
      resources.set(resource, made)
    }
    const home = resource ? resources.get(resource)! : program
    home.addCommand(leaf(command, found))
  }
  return program
}

export const singularOf = (resource: string): string | null => (/[^s]s$/.test(resource) ? resource.slice(0, -1) : null)

function leaf(command: Command, found: Found): Commander {
  const made = silent(new Commander(verbOf(command))).allowExcessArguments(false)
  for (const [name, arg] of Object.entries(command.args)) {
    const title = arg.variadic ? `${name}...` : name
    const read = (word: string, before: unknown) => {
      // An unset variable would turn a request for one item into a request for the list.
      if (word === '') throw usageFailure(`${name.toUpperCase()} is empty.`)
      return readNamed<unknown>(name.toUpperCase(), word, arg, before)
    }
    made.argument(arg.required ? `<${title}>` : `[${title}]`, arg.about, read, arg.variadic ? [] : undefined)
  }
  addFlags(made, command.flags)
  const names = Object.keys(command.args)
  return made.action((...given: unknown[]) => {
    const words = Object.fromEntries(names.map((name, at) => [name, given[at]]))
    const globals = made.parent?.optsWithGlobals() as Globals
    const flags = Object.entries(made.opts()).map(([name, value]) => [name, value === NONE ? null : value])
    found({ type: 'run', command, input: { ...words, ...Object.fromEntries(flags) }, globals })
  })
}

/** A word that only groups others. Alone it shows help. An unknown word after it is rejected. */
function asGroup(made: Commander, resource: string | null, commands: readonly Command[], found: Found): void {
  made
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) => {
      const [word] = words
      if (word?.startsWith('-')) throw usageFailure(`There is no flag ${word}.`, 'svc-admin --help lists the flags')
      if (word === undefined) return found({ type: 'help', about: resource ? [resource] : [] })
      const path = ['svc-admin', resource].filter(Boolean).join(' ')
      const hint = didYouMean(word, childrenOf(resource, commands))
      throw usageFailure(`There is no command "${path} ${word}".${hint}`, `${path} --help`)
    })
}

/** The words that may follow: nouns and single-word commands at the top, verbs after a noun. */
export function childrenOf(resource: string | null, commands: readonly Command[]): string[] {
  const inside = commands.filter((command) => resource === null || resourceOf(command) === resource)
  return [...new Set(inside.map((command) => (resource === null ? command.path.split(' ')[0]! : verbOf(command))))]
}

const silent = (made: Commander): Commander =>
  made
    .exitOverride()
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined })

function addFlags(made: Commander, flags: Flags): void {
  for (const [name, declared] of Object.entries(flags)) {
    const long = `--${kebab(name)}`
    const names = declared.short ? `-${declared.short}, ${long}` : long
    // commander would read `--no-input` as the negation of `--input`. This makes it an ordinary flag.
    made.addOption(
      declared.value === undefined
        ? Object.assign(new Option(names), { negate: false })
        : valued(names, declared.about, declared, long).makeOptionMandatory(declared.needed !== undefined),
    )
  }
}

/** Stands for null ("none"), which commander would treat as a value that failed to parse. */
const NONE = Symbol('none')

const valued = (names: string, about: string, reading: Flag, shown = names): Option =>
  new Option(`${names} <word>`, about).argParser((word, before) => {
    // commander would take the next flag as the value of this one.
    if (/^--[a-z][a-z-]*$/.test(word)) throw usageFailure(`${shown} needs a value after it.`)
    return readNamed(shown, word, reading, before === NONE ? null : before) ?? NONE
  })

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Prefix for a word that commander would treat as flags. No word of a command line can contain it. */
const MARK = '\0'

/**
 * Keeps `-500c` a word, and the value of a flag, such as a key that begins with `-q`. commander itself only recognizes
 * `-5.00` as not a flag. {@link readNamed} removes the mark.
 */
export const markWord = (word: string, isValue: boolean): string =>
  (isValue ? /^-[^-]./ : /^-\d+c$/).test(word) ? `${MARK}${word}` : word

/** Parses one word. @throws CommandFailed 2 with a message that starts with the flag's or argument's name */
export function readNamed<T>(name: string, word: string, reading: Reading<T>, before?: T): T {
  try {
    return reading.read(word.startsWith(MARK) ? word.slice(1) : word, before)
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
