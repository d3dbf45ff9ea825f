import type { Setting } from '../../src/kernel/config'
import { didYouMean } from '../../src/kernel/nearest'
import { commandsAsTyped } from '../../src/kernel/text'
import { ERROR_PAGES } from '../../src/pages/reference/error-pages'
import { columnsOf, commandsOf } from '../command'
import { EXIT_MEANINGS, usageFailure } from '../failure'
import { GLOBAL_FLAGS } from '../globals'
import { exitsOf, helpFor, rows } from '../help'
import { kebab } from '../program'
import type { Shell } from '../shell'
import agents from '../texts/help-agents.txt' with { type: 'text' }
import filters from '../texts/help-filters.txt' with { type: 'text' }
import manifest from '../texts/help-manifest.txt' with { type: 'text' }
import output from '../texts/help-output.txt' with { type: 'text' }
import remote from '../texts/help-remote.txt' with { type: 'text' }
import secrets from '../texts/help-secrets.txt' with { type: 'text' }
import { type Flag, optional } from '../words'

const command = commandsOf('', { apis: ['host'], exits: [] })

export const cheat = command`cheat: Print examples of commands, ready to paste
  Prints two or more examples for each command of a noun, with what they do. Without a noun it prints one for each command.
  $ cheat keys
  $ cheat | less`({
  args: { resource: optional('a noun, such as keys') },
  async run({ io, commands, env }, { resource }) {
    const words = [...new Set(commands.map(({ path }) => path.split(' ')[0]!))]
    const own = commands.filter(({ path }) => {
      const [first] = path.split(' ')
      return resource === undefined || first === resource || first === `${resource}s`
    })
    if (!own.length)
      throw usageFailure(`There is no noun "${resource}".${didYouMean(resource!, words)}`, 'svc-admin help')
    for (const { summary, examples } of own) {
      io.out(`# ${summary}`)
      for (const example of resource === undefined ? examples.slice(0, 1) : examples)
        io.out(commandsAsTyped(`svc-admin ${example}`, env))
      io.out('')
    }
  },
})

export const listCommands = command`commands: List every command
  In JSON each entry has its arguments, flags, exit codes, impact (ro or rw) and danger. A program can use these to decide what to run.
  $ commands
  $ commands -o json`({
  columns: columnsOf`command COMMAND, impact IMPACT, summary SUMMARY`,
  async run(shell) {
    const described = shell.commands.map((command) => ({
      schema_version: 1,
      command: command.path,
      summary: command.summary,
      impact: command.impact === 'read' ? 'ro' : 'rw',
      danger: command.danger,
      planes: command.apis,
      offline: command.offline,
      arguments: Object.entries(command.args).map(([name, { about, required }]) => ({ name, about, required })),
      flags: Object.entries(command.flags).map(([name, { about, value = null, words = null }]) => {
        return { name: `--${kebab(name)}`, about, value, words }
      }),
      columns: (command.columns ?? []).map(({ field }) => field),
      exit_codes: exitsOf(command),
      examples: command.examples.map((example) => `svc-admin ${example}`),
    }))
    shell.print.list(described, listCommands.columns!, 'No commands.')
  },
})

/** Help topics that are not commands (docs/operating.md 2.8). They apply to all. */
const TOPIC_PAGES: Readonly<Record<string, string>> = { output, filters, remote, secrets, agents, manifest }
const TOPICS = ['environment', 'exit-codes', 'error', 'manifest', 'output', 'filters', 'remote', 'secrets', 'agents']

export const help = command`help: Explain a command, a topic or an error code
  Topics: ${TOPICS.join(', ')}. The error topic takes a code; manifest prints a skill to start from.
  $ help exit-codes
  $ help error insufficient_credits
  $ help keys create`({
  args: { topic: optional('a topic, a noun or a command'), word: optional("the command's verb, or an error code") },
  async run(shell, { topic, word }) {
    if (topic === 'exit-codes') {
      for (const line of rows(Object.entries(EXIT_MEANINGS))) shell.io.out(line.trimStart().padStart(line.length - 2))
      return
    }
    if (topic === 'environment') return environment(shell)
    if (topic === 'error') return errorPage(shell, word)
    if (topic && Object.hasOwn(TOPIC_PAGES, topic)) return shell.io.raw(commandsAsTyped(TOPIC_PAGES[topic]!, shell.env))
    const known = shell.commands.some(({ path }) => path.split(' ')[0] === topic)
    if (topic && !known)
      throw usageFailure(`There is no topic "${topic}".${didYouMean(topic, TOPICS)}`, 'svc-admin help')
    const about = [topic, word].filter((one) => one !== undefined)
    shell.io.out(commandsAsTyped(helpFor(about, shell.commands), shell.env))
  },
})

async function environment({ io }: Shell): Promise<void> {
  const own = Object.entries<Flag>(GLOBAL_FLAGS).flatMap(([name, { env }]) =>
    env ? [[env, `the same as --${kebab(name)}`] as const] : [],
  )
  io.out('Read by svc-admin:')
  for (const line of rows([...own, ['NO_COLOR, FORCE_COLOR', 'colour off, colour on'], ['CI', 'never ask']]))
    io.out(line)
  const { SETTINGS } = await import('../../src/app/config')
  io.out('')
  io.out('Read by the server (svc-admin config list shows their values):')
  for (const line of rows(Object.values<Setting>(SETTINGS).map(({ env, about }) => [env, about]))) io.out(line)
}

function errorPage({ io, env }: Shell, code: string | undefined): void {
  const codes = Object.keys(ERROR_PAGES)
  if (code === undefined) {
    for (const line of rows(codes.map((one) => [one, ERROR_PAGES[one]!.meaning]))) io.out(line)
    return
  }
  const page = ERROR_PAGES[code]
  if (!page) throw usageFailure(`There is no error code "${code}".${didYouMean(code, codes)}`, 'svc-admin help error')
  const lines = [
    ['code', code],
    ['status', String(page.status)],
    ['means', page.meaning],
    ['fix', page.operator ?? page.cure],
    ['retry', page.retry],
  ] as const
  for (const line of rows(lines)) io.out(commandsAsTyped(line.slice(2), env))
}
