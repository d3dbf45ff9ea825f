import { CommanderError } from 'commander'
import { nearest } from '../src/kernel/nearest'
import { type Command, resourceOf } from './command'
import { type CommandFailed, usageFailure } from './failure'
import { type Environment, GLOBAL_FLAGS, type Globals } from './globals'
import {
  buildProgram,
  childrenOf,
  type Input,
  kebab,
  markWord,
  plainWords,
  readNamed,
  singularOf,
  withoutAliases,
} from './program'
import type { Flag } from './words'

/** Parses the command line. Pure: opens, prints and runs nothing. @throws CommandFailed with exit code 2 */
export function parse(given: readonly string[], commands: readonly Command[], env: Environment): Input {
  const argv = withoutAliases(given)
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  if (own.includes('-h') || own.includes('--help')) return { type: 'help', about: namedCommand(own, commands) }
  if (own.includes('--version')) return parse(['version'], commands, env)
  let input: Input = { type: 'help', about: [] }
  const program = buildProgram(commands, (found) => {
    input = found
  })
  try {
    // `--watch=5s` becomes two words, because a bare `--watch` must not consume the next word.
    const named = namedCommand(own, commands).join(' ')
    const flags = Object.entries(commands.find(({ path }) => path === named)?.flags ?? {})
    const valued = flags.flatMap(([name, { value }]) => (value === undefined ? [] : `--${kebab(name)}`))
    const spread = argv.flatMap((word, at) => {
      const [, pause] = /^(?:--watch|-w)=(.+)$/.exec(word) ?? []
      return pause ? ['--watch', '--watch-every', pause] : [markWord(word, valued.includes(argv[at - 1] ?? ''))]
    })
    program.parse(spread, { from: 'user' })
  } catch (error) {
    throw error instanceof CommanderError ? translate(error, own, commands) : error
  }
  return withEnvironment(input, env)
}

/** Omitted flags take the value of their environment variable. */
function withEnvironment(input: Input, env: Environment): Input {
  if (input.type !== 'run') return input
  const globals: Record<string, unknown> = { ...input.globals }
  for (const [name, declared] of Object.entries<Flag>(GLOBAL_FLAGS)) {
    const word = declared.env && env[declared.env]
    if (!word || name in globals) continue
    globals[name] = readNamed<unknown>(`${declared.env} (--${kebab(name)})`, word, declared)
  }
  return { ...input, globals: globals as Globals }
}

/** The noun and verb at the start of a command line, with singulars made plural: the topic of `--help`. */
export function namedCommand(argv: readonly string[], commands: readonly Command[]): string[] {
  const words = plainWords(argv).map((at) => argv[at]!)
  const top = childrenOf(null, commands)
  const at = words.findIndex((word) => top.includes(word) || top.some((resource) => singularOf(resource) === word))
  if (at === -1) return []
  const first = top.find((resource) => resource === words[at] || singularOf(resource) === words[at])!
  const second = words[at + 1]
  const isResource = commands.some((command) => resourceOf(command) === first)
  const known = isResource && second !== undefined && childrenOf(first, commands).includes(second)
  return known ? [first, second] : [first]
}

/** Rewrites commander's error: the flag or argument, its value, and a suggestion (docs/operating.md 6.3). */
function translate(error: CommanderError, own: readonly string[], commands: readonly Command[]): CommandFailed {
  const named = namedCommand(own, commands)
  const command = commands.find(({ path }) => path === named.join(' '))
  const title = named.join(' ') || 'svc-admin'
  const help = ['svc-admin', ...named, '--help'].join(' ')
  const [, quoted = ''] = /'([^']+)'/.exec(error.message) ?? []
  switch (error.code) {
    case 'commander.unknownOption': {
      const [flag = ''] = quoted.split('=')
      const names = [...Object.keys(command?.flags ?? {}), ...Object.keys(GLOBAL_FLAGS), 'help', 'version']
      const [known, word] = [names.map(kebab), flag.replace(/^-+/, '')]
      if (known.includes(word)) return usageFailure(`${flag} takes no value.`, help)
      if (command?.args[word]) return usageFailure(`${title} takes ${word.toUpperCase()} without ${flag}.`, help)
      const near = nearest(word, known)
      return usageFailure(`${title} has no flag ${flag}.${near === null ? '' : ` Did you mean --${near}?`}`, help)
    }
    case 'commander.optionMissingArgument': {
      const [, flag = quoted] = /(--[a-z-]+)/.exec(quoted) ?? []
      return usageFailure(`${flag} needs a value after it.`, help)
    }
    case 'commander.missingMandatoryOptionValue': {
      const [, flag = ''] = /--([a-z-]+)/.exec(quoted) ?? []
      const [, missing] = Object.entries(command?.flags ?? {}).find(([name]) => kebab(name) === flag) ?? []
      return usageFailure(`${title} needs --${flag}.`, missing?.needed)
    }
    case 'commander.missingArgument': {
      // A wrong word before the missing one is the likelier mistake: a verb that was left out, for example.
      const given = plainWords(own).slice(named.length)
      for (const [at, [name, arg]] of Object.entries(command?.args ?? {}).entries())
        if (given[at] !== undefined) readNamed<unknown>(name.toUpperCase(), own[given[at]]!, arg)
      return usageFailure(`${title} needs ${quoted.toUpperCase()}: ${command?.args[quoted]?.about ?? 'a value'}.`, help)
    }
    case 'commander.excessArguments':
      return usageFailure(`${title} takes fewer arguments.`, help)
    default:
      return usageFailure(error.message.replace(/^error: /, ''), help)
  }
}
