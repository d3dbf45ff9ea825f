import type { Config } from '../../src/app/config'
import type { Setting } from '../../src/kernel/config'
import { defineCommand } from '../command'
import { usageFailure } from '../failure'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { overridesOf } from '../overrides'
import type { Shell } from '../shell'
import { didYouMean } from '../suggest'
import { argument, flag } from '../words'

const columns = [
  column('name', 'NAME'),
  column('value', 'VALUE'),
  column('origin', 'FROM'),
  column('env', 'ENVIRONMENT'),
  column('default', 'DEFAULT', { wide: true }),
  column('about', 'WHAT IT IS', { wide: true }),
]

/** A server may have been started by another shell, with other variables. */
const WHOSE = 'As this shell has them; a running server keeps the settings that it was started with.'

const common = { apis: ['host'], offline: true, impact: 'read', danger: 'none', exits: [], columns } as const

const listConfig = defineCommand({
  ...common,
  path: 'config list',
  summary: 'List every setting with its value and where it came from',
  about:
    'A flag wins over the environment, the environment over svc.server.json, and that over the default. Secrets are never printed, only whether they are set.',
  examples: ['config list', 'config list --changed -o wide', 'config list --json'],
  flags: { changed: flag('only what differs from the default') },
  async run(shell, { changed }) {
    const all = await settingsOf(shell)
    const rows = changed ? all.filter(({ origin }) => origin !== 'default') : all
    shell.print.list(rows, columns, 'Every setting has its default.')
    shell.note(WHOSE)
  },
})

const explainConfig = defineCommand({
  ...common,
  path: 'config explain',
  summary: 'Explain one setting: what it is, its value, where that came from',
  about: 'The name is the one in svc.server.json, or the environment variable.',
  examples: ['config explain publicUrl', 'config explain SVC_PORT --json'],
  args: { name: argument('publicUrl, SVC_PUBLIC_URL, …') },
  async run(shell, { name }) {
    const all = await settingsOf(shell)
    const found = all.find((setting) => setting.name === name || setting.env === name)
    const names = all.flatMap((setting) => [setting.name, setting.env])
    if (!found) throw usageFailure(`There is no setting "${name}".${didYouMean(name, names)}`, 'svc-admin config list')
    shell.print.item(found, columns)
    shell.note(WHOSE)
  },
})

type Explained = { name: string; value: string; origin: string; env: string; default: string; about: string }

async function settingsOf(shell: Shell): Promise<Explained[]> {
  const { loadConfig, SETTINGS } = await import('../../src/app/config')
  const config: Config = loadConfig(overridesOf(shell))
  return Object.entries<Setting>(SETTINGS).map(([name, { env, about, secret, default: fallback }]) => ({
    name,
    value: shown(config[name as keyof typeof SETTINGS], secret),
    origin: config.origins[name] ?? 'default',
    env,
    default: shown(fallback, false),
    about,
  }))
}

function shown(value: unknown, secret: boolean | undefined): string {
  const text = typeof value === 'string' ? value : safeJson(value)
  if (secret) return value === '' || /^\{("\w+":\{\},?)*\}$/.test(text) ? 'not set' : 'set, not shown'
  return text
}

export const configCommands = [listConfig, explainConfig]
