import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { hookAt } from '../hook-at'
import { column, idColumn } from '../output/columns'
import { readValueFile } from '../preference-file'
import type { Shell } from '../shell'
import { argument, duration, text } from '../words'
import { resourceCommands } from './noun-commands'

const columns = [
  idColumn,
  column('name', 'NAME'),
  column('event_pattern', 'PATTERN'),
  column('skill_slug', 'SKILL'),
  column('enabled', 'ENABLED', { kind: 'flag' }),
  column('cooldown_minutes', 'COOLDOWN', { kind: 'number' }),
  column('consecutive_failures', 'FAILURES', { kind: 'number', min: true }),
  column('last_fired_at', 'FIRED', { kind: 'time' }),
  column('disabled_reason', 'WHY', { wide: true }),
  column('hook_preset_id', 'PRESET', { wide: true }),
  column('config', 'CONFIG', { wide: true, show: ({ config }) => JSON.stringify(config) }),
  column('org_id', 'ORG', { wide: true }),
  column('created_at', 'CREATED', { kind: 'time', wide: true }),
]

const common = { apis: ['tenant', 'operator'], columns } as const
const ID = '5b1f0c7e-…'
const args = { id: argument('id of the hook') }
const MINUTE_MS = 60_000
const COOLDOWN = duration('TIME', 'pause after each run, in whole minutes up to 24h; 15m by default')
const FILE = { ...text('FILE', 'its config, as JSON or YAML; - reads stdin'), short: 'f' } as const

const presets = [
  column('id', 'ID', { keep: true }),
  column('event_pattern', 'PATTERN'),
  column('default_skill', 'SKILL'),
  column('description', 'WHAT IT DOES'),
]

const listPresets = defineCommand({
  ...common,
  columns: presets,
  path: 'hooks presets',
  summary: 'List hooks that are ready to install',
  about: 'Install one with hooks install --preset.',
  examples: ['hooks presets', 'hooks presets --json'],
  impact: 'read',
  exits: [3],
  async run(shell) {
    const { api, ownerFilter } = await apiOf(shell)
    shell.print.list(
      expectData(await api.hooks.get({ query: { limit: 1, ...ownerFilter } })).presets,
      presets,
      'No presets.',
    )
  },
})

const installHook = defineCommand({
  ...common,
  path: 'hooks install',
  summary: 'Install a hook: a skill that runs when an event happens',
  about:
    'Needs --preset, or --pattern and --skill. Its runs act for you and you pay for them. The config is sent with each event; its prompt tells the skill what to do.',
  examples: [
    'hooks install --preset task.overdue.summary',
    'hooks install --pattern "order.*.paid" --skill email-drafter --cooldown 5m -f config.json',
  ],
  impact: 'write',
  exits: [3, 5],
  flags: {
    preset: text('ID', 'a hook from hooks presets'),
    pattern: text('PATTERN', 'words joined by dots; * matches any word, or all that follow'),
    skill: text('SLUG', "the skill that runs; the preset's skill by default"),
    cooldown: COOLDOWN,
    name: text('NAME', 'name of the hook'),
    file: FILE,
  },
  async run(shell, { preset, pattern, skill, ...rest }) {
    const input = {
      ...(preset === undefined ? {} : { hook_preset_id: preset }),
      ...(pattern === undefined ? {} : { event_pattern: pattern }),
      ...(skill === undefined ? {} : { skill_slug: skill }),
      ...(await settings(shell, rest)),
    }
    if (shell.planned(`install a hook for ${preset ?? pattern ?? 'nothing'}`)) return
    const { api, ownerFilter } = await apiOf(shell)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    shell.print.item(expectData(await api.hooks.post(input, { query: ownerFilter, headers })), columns)
  },
})

type Settings = { cooldown: number | undefined; name: string | undefined; file: string | undefined }

const settings = async (shell: Shell, { cooldown, name, file }: Settings) => ({
  ...(cooldown === undefined ? {} : { cooldown_minutes: Math.round(cooldown / MINUTE_MS) }),
  ...(name === undefined ? {} : { name }),
  ...(file === undefined ? {} : { config: (await readValueFile(shell, file)) as Record<string, unknown> }),
})

const updateHook = defineCommand({
  ...common,
  path: 'hooks update',
  summary: 'Change the cooldown, the name or the config of a hook',
  about: 'Settings that you do not name stay the same. To change the pattern or the skill, install another hook.',
  examples: [`hooks update ${ID} --cooldown 1h`, `hooks update ${ID} -f config.json --json`],
  impact: 'write',
  exits: [3, 5],
  args,
  flags: { cooldown: COOLDOWN, name: text('NAME', 'name of the hook'), file: FILE },
  async run(shell, { id, ...rest }) {
    const patch = await settings(shell, rest)
    if (shell.planned(`change ${Object.keys(patch).join(', ') || 'nothing'} of hook ${id}`)) return
    const { one } = await hookAt(shell, id)
    shell.print.item(expectData(await one.patch(patch)), columns)
  },
})

const plain = resourceCommands<{ enabled: boolean }>({
  resource: 'hooks',
  what: 'hook',
  columns,
  id: ID,
  page: async (api, query) => {
    const found = expectData(await api.hooks.get({ query }))
    return { items: found.hooks, next: found.next_cursor }
  },
  at: hookAt,
  read: async (shell, id) => expectData(await (await hookAt(shell, id)).one.get({ query: { limit: 1 } })).hook,
  first: 'install --preset task.overdue.summary',
  shown: 'hooks runs still lists its runs.',
  switched: (enabled) => ({ enabled }),
  enable: ['Enable a hook', 'Resets the count of failures. Events that happened while it was disabled do not run it.'],
  disable: ['Disable a hook', 'Runs that already started will finish.'],
  along: '',
  stays: 'Runs that already started will finish.',
})

export const hookCommands = [
  plain.list,
  plain.get,
  listPresets,
  installHook,
  updateHook,
  plain.enable,
  plain.disable,
  plain.remove,
]
