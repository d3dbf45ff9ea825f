import { wrap } from '../src/kernel/text'
import { type Command, resourceOf, verbOf } from './command'
import { EXIT_MEANINGS } from './failure'
import { GLOBAL_FLAGS } from './globals'
import { aliasesOf, kebab } from './program'
import type { Flags } from './words'

/** Help for everything, a noun or one command. Generated from the registry and wrapped at 80 columns. */
export function helpFor(about: readonly string[], commands: readonly Command[]): string {
  const command = commands.find(({ path }) => path === about.join(' '))
  if (command) return commandHelp(command)
  const [resource] = about
  if (!resource) return topHelp(commands)
  const own = commands.filter((one) => resourceOf(one) === resource).map((one): Row => [verbOf(one), one.summary])
  return [
    `Usage:  svc-admin ${resource} VERB [flags]`,
    '',
    ...rows([...own, ...others(resource, commands)]),
    '',
    `More:   svc-admin ${resource} VERB --help`,
  ].join('\n')
}

function topHelp(commands: readonly Command[]): string {
  const single = commands.filter((command) => resourceOf(command) === null)
  const resources = [...new Set(commands.map(resourceOf).filter((resource) => resource !== null))]
  return [
    'svc-admin runs and manages an svc server.',
    '',
    'Usage:  svc-admin COMMAND [flags]',
    '',
    'Commands:',
    ...rows(single.map(({ path, summary }) => [path, summary])),
    '',
    'Commands by resource:',
    ...rows(resources.map((resource) => [resource, verbsOf(resource, commands)])),
    '',
    'Start:    svc-admin serve --dev      then   svc-admin try "Say hello"',
    'More:     svc-admin COMMAND --help, svc-admin help exit-codes,',
    '          svc-admin help environment',
  ].join('\n')
}

const verbsOf = (resource: string, commands: readonly Command[]): string =>
  commands
    .filter((command) => resourceOf(command) === resource)
    .map(verbOf)
    .join(', ')

type Row = [string, string]

const others = (resource: string, commands: readonly Command[]): Row[] =>
  aliasesOf(resource).flatMap(([words, path]) => {
    const meant = commands.find((command) => command.path === path)
    if (meant) return [[words, `${meant.summary} (${path})`] as Row]
    const isResource = path !== resource && !path.includes(' ') && !words.includes(' ')
    return isResource ? [[words, `${verbsOf(path, commands)} (svc-admin ${path})`] as Row] : []
  })

function commandHelp(command: Command): string {
  const args = Object.entries(command.args)
  const names = args.map(([name, { required }]) => (required ? name.toUpperCase() : `[${name.toUpperCase()}]`))
  const usage = ['svc-admin', command.path, ...names, '[flags]'].join(' ')
  const { apis, offline } = command
  const places = [
    apis.includes('host') && 'on this machine',
    apis.includes('operator') && 'over the operator socket',
    apis.includes('tenant') && 'over --url with an API key',
    offline && 'without a server',
  ]
  return [
    `${command.summary}.`,
    '',
    `Usage:  ${usage}`,
    '',
    ...command.about.split('\n').flatMap((line) => wrap(line, LINE)),
    ...section(
      'Arguments:',
      args.map(([name, { about }]) => [name.toUpperCase(), about]),
    ),
    ...section('Flags:', flagRows(command.flags)),
    '',
    'Examples:',
    ...command.examples.map((example) => `  svc-admin ${example}`),
    ...section(
      'Columns:',
      (command.columns ?? []).map(({ field, header }) => [field, header]),
    ),
    '',
    ...labelled('Runs:', places.filter(Boolean).join(', ')),
    ...(command.danger === 'none' ? [] : labelled('Caution:', DANGERS[command.danger])),
    ...labelled('Exit codes:', `${exitsOf(command).join(', ')} (svc-admin help exit-codes)`),
    ...section('Global flags:', flagRows(GLOBAL_FLAGS)),
  ].join('\n')
}

/** A label with its text, whose further lines are indented below the first. */
function labelled(label: string, text: string): string[] {
  const width = 'Exit codes: '.length
  return wrap(text, LINE - width).map((line, at) => `${(at ? '' : label).padEnd(width)}${line}`)
}

const DANGERS = {
  moderate: 'asks y/N first; without a terminal add --yes',
  severe: 'asks you to type the name; without a terminal add --confirm NAME',
  'secret once': 'prints a secret that cannot be shown again',
}

export const exitsOf = (command: Command): number[] =>
  [...new Set([0, 1, 2, ...command.exits])].filter((code) => code in EXIT_MEANINGS).sort((a, b) => a - b)

const flagRows = (flags: Flags): [string, string][] =>
  Object.entries(flags).map(([name, { about, words, value, short, env }]) => {
    const choices = words && value !== words.join('|') ? `: ${words.join(', ')}` : ''
    const long = `--${kebab(name)}${value === undefined ? '' : ` ${value}`}`
    return [`${short ? `-${short}, ` : '    '}${long}`, `${about}${choices}${env ? ` [${env}]` : ''}`]
  })

const section = (title: string, pairs: [string, string][]): string[] =>
  pairs.length ? ['', title, ...rows(pairs)] : []

const WIDEST = 28
const LINE = 80

/** Formats two columns. A long left word gets its own line, and the right column wraps. */
export function rows(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(WIDEST, Math.max(...pairs.map(([left]) => left.length)))
  return pairs.flatMap(([left, right]) => {
    const lines = wrap(right, Math.max(30, LINE - width - 4))
    const indent = ' '.repeat(width + 4)
    const own = left.length > width
    const first = own ? [`  ${left}`, `${indent}${lines[0] ?? ''}`] : [`  ${left.padEnd(width)}  ${lines[0] ?? ''}`]
    return [...first, ...lines.slice(1).map((line) => indent + line)].map((line) => line.trimEnd())
  })
}
