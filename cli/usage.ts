import type { CommanderError } from 'commander'
import { didYouMean } from '../src/kernel/nearest'
import { type Command, nounOf } from './command'
import { type CommandFailed, usageFailure } from './failure'
import { GLOBAL_FLAGS } from './globals'
import { plainWords } from './plain-words'
import { childrenOf, kebab, singularOf } from './program'

/** The noun and verb at the start of a command line, with singulars made plural: the topic of `--help`. */
export function namedCommand(argv: readonly string[], commands: readonly Command[]): string[] {
  const words = plainWords(argv).map((at) => argv[at]!)
  const top = childrenOf(null, commands)
  const at = words.findIndex((word) => top.includes(word) || top.some((noun) => singularOf(noun) === word))
  if (at === -1) return []
  const first = top.find((noun) => noun === words[at] || singularOf(noun) === words[at])!
  const second = words[at + 1]
  const isNoun = commands.some((command) => nounOf(command) === first)
  const known = isNoun && second !== undefined && childrenOf(first, commands).includes(second)
  return known ? [first, second] : [first]
}

/** Rewords commander's error: the flag or argument, its value, and what was probably meant (dx 6.3). */
export function translate(error: CommanderError, named: string[], commands: readonly Command[]): CommandFailed {
  const command = commands.find(({ path }) => path === named.join(' '))
  const title = named.join(' ') || 'svc-admin'
  const help = ['svc-admin', ...named, '--help'].join(' ')
  const [, quoted = ''] = /'([^']+)'/.exec(error.message) ?? []
  switch (error.code) {
    case 'commander.unknownOption': {
      const [flag] = quoted.split('=')
      return usageFailure(`${title} has no flag ${flag}.${didYouMean(flag!, flagsOf(command))}`, help)
    }
    case 'commander.optionMissingArgument': {
      const [, flag = quoted] = /(--[a-z-]+)/.exec(quoted) ?? []
      return usageFailure(`${flag} needs a value after it.`, help)
    }
    case 'commander.missingArgument':
      return usageFailure(`${title} needs ${quoted.toUpperCase()}: ${aboutOf(command, quoted)}.`, help)
    case 'commander.excessArguments':
      return usageFailure(`${title} takes fewer arguments.`, help)
    default:
      return usageFailure(error.message.replace(/^error: /, ''), help)
  }
}

const aboutOf = (command: Command | undefined, name: string): string => command?.args[name]?.about ?? 'a value'

const flagsOf = (command: Command | undefined): string[] =>
  [...Object.keys(command?.flags ?? {}), ...Object.keys(GLOBAL_FLAGS), 'help', 'version'].map(
    (name) => `--${kebab(name)}`,
  )
