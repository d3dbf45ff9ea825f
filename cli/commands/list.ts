import { type Command, defineCommand } from '../command'
import { exitsOf } from '../help'
import { column } from '../output/columns'
import { kebab } from '../program'

const SCHEMA_VERSION = 1

export const listCommands = defineCommand({
  path: 'commands',
  summary: 'List every command',
  about:
    'In JSON each entry has its arguments, flags, exit codes, impact (ro or rw) and danger. A program can use these to decide what to run.',
  examples: ['commands', 'commands -o json'],
  apis: ['host'],
  impact: 'read',
  columns: [column('command', 'COMMAND'), column('impact', 'IMPACT'), column('summary', 'SUMMARY')],
  async run(shell) {
    shell.print.list(shell.commands.map(describe), listCommands.columns!, 'No commands.')
  },
})

const describe = (command: Command) => ({
  schema_version: SCHEMA_VERSION,
  command: command.path,
  summary: command.summary,
  impact: command.impact === 'read' ? 'ro' : 'rw',
  danger: command.danger,
  planes: command.apis,
  offline: command.offline,
  arguments: Object.entries(command.args).map(([name, { about, required }]) => ({ name, about, required })),
  flags: Object.entries(command.flags).map(([name, { about, value, words }]) => ({
    name: `--${kebab(name)}`,
    about,
    value: value ?? null,
    words: words ?? null,
  })),
  columns: (command.columns ?? []).map(({ field }) => field),
  exit_codes: exitsOf(command),
  examples: command.examples.map((example) => `svc-admin ${example}`),
})
