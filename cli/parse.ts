import { CommanderError } from 'commander'
import type { Command, Flag } from './command'
import { type Environment, GLOBAL_FLAGS, type Globals } from './globals'
import { underTheirNames } from './other-words'
import { buildProgram, kebab, markCents, type Order, readNamed } from './program'
import { namedCommand, translate } from './usage'

export type { Order } from './program'

/** Parses the command line. Pure: opens, prints and runs nothing. @throws CommandFailed with exit code 2 */
export function parse(given: readonly string[], commands: readonly Command[], env: Environment): Order {
  const argv = underTheirNames(given)
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  if (own.includes('-h') || own.includes('--help')) return { type: 'help', about: namedCommand(own, commands) }
  if (own.includes('--version')) return parse(['version'], commands, env)
  let order: Order = { type: 'help', about: [] }
  const program = buildProgram(commands, (found) => {
    order = found
  })
  try {
    program.parse(spreadWatch(argv).map(markCents), { from: 'user' })
  } catch (error) {
    throw error instanceof CommanderError ? translate(error, namedCommand(own, commands), commands) : error
  }
  return withEnvironment(order, env)
}

/** Splits `--watch=5s` into two words; a bare `--watch` must not consume the next word. */
function spreadWatch(argv: readonly string[]): string[] {
  return argv.flatMap((word) => {
    const [, pause] = /^(?:--watch|-w)=(.+)$/.exec(word) ?? []
    return pause ? ['--watch', '--watch-every', pause] : [word]
  })
}

/** Flags that were not given take the value of their environment variable. */
function withEnvironment(order: Order, env: Environment): Order {
  if (order.type !== 'run') return order
  const globals: Record<string, unknown> = { ...order.globals }
  for (const [name, declared] of Object.entries<Flag>(GLOBAL_FLAGS)) {
    const word = declared.env && env[declared.env]
    if (!word || name in globals) continue
    globals[name] = readNamed<unknown>(`${declared.env} (--${kebab(name)})`, word, declared)
  }
  return { ...order, globals: globals as Globals }
}
