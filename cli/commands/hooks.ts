import { isEventPattern, matchesPattern } from '../../src/events/schema'
import { iso } from '../../src/kernel/clock'
import { columnsOf, commandsOf, defined } from '../command'
import { usageFailure } from '../failure'
import { readValueFile } from '../files'
import { everyOf, itemArgument, resourceOver } from '../resource'
import type { Shell } from '../shell'
import { argument, duration, type FlagsGiven, text } from '../words'
import { switchCommands } from './resource-commands'

const columns = columnsOf`
  id, name NAME, event_pattern PATTERN, skill_slug SKILL, enabled ENABLED flag, cooldown_minutes COOLDOWN number,
  consecutive_failures FAILURES number min, last_fired_at FIRED time, disabled_reason WHY wide,
  hook_preset_id PRESET wide, config CONFIG wide ${({ config }) => JSON.stringify(config)}, org_id ORG wide,
  created_at CREATED time wide`

const ID = '5b1f0c7e-…'
const args = { id: itemArgument('hooks', 'hook') }
const MINUTE_MS = 60_000
const changes = {
  cooldown: duration('TIME', 'pause after each run, in whole minutes up to 24h; 15m by default'),
  name: text('NAME', 'name of the hook'),
  file: { ...text('FILE', 'its config, as JSON or YAML; - reads stdin'), short: 'f' },
}

const presets = columnsOf`id ID keep, event_pattern PATTERN, default_skill SKILL, description WHAT IT DOES`

const command = commandsOf('hooks', { apis: ['tenant', 'operator'], columns, args })

const settings = async (shell: Shell, { cooldown, name, file }: FlagsGiven<typeof changes>) =>
  defined({
    cooldown_minutes: cooldown === undefined ? undefined : Math.round(cooldown / MINUTE_MS),
    name,
    config: file === undefined ? undefined : ((await readValueFile(shell, file)) as Record<string, unknown>),
  })

const plain = switchCommands({
  path: 'hooks',
  resource: 'hooks',
  what: 'hook',
  columns,
  id: ID,
  first: 'install --preset task.overdue.summary',
  shown: 'hooks runs still lists its runs.',
  switched: (enabled) => ({ enabled }),
  enable: ['Enable a hook', 'Resets the count of failures. Events that happened while it was disabled do not run it.'],
  disable: ['Disable a hook', 'Runs that already started will finish.'],
  stays: 'Runs that already started will finish.',
})

const runs = columnsOf`
  id ID keep, status STATUS, error WHY, costCents CENTS number, createdAt AT time, completedAt ENDED time wide,
  eventId EVENT wide, output OUTPUT wide`

const matchColumns = columnsOf`kind KIND, id ID keep, pattern PATTERN, does DOES, state STATE`
type Match = { kind: 'hook' | 'workflow' | 'webhook'; id: string; pattern: string; does: string; state: string }

export const hookCommands = [
  plain.list,
  plain.get,
  command`presets (shows presets): List hooks that are ready to install
  Install one with hooks install --preset.
  $ hooks presets`({
    columns: presets,
    request: ({ api, ownerFilter }) => api.hooks.get({ query: { limit: 1, ...ownerFilter } }),
    empty: 'No presets.',
  }),
  command`install: Install a hook: a skill that runs when an event happens
  Needs --preset, or --pattern and --skill. Its runs act for you and you pay for them. The config is sent with each event; its prompt tells the skill what to do.
  $ hooks install --preset task.overdue.summary
  $ hooks install --pattern "order.*.paid" --skill email-drafter --cooldown 5m -f config.json`({
    flags: {
      preset: text('ID', 'a hook from hooks presets'),
      pattern: text('PATTERN', 'words joined by dots; * matches any word, or all that follow'),
      skill: text('SLUG', "the skill that runs; the preset's skill by default"),
      ...changes,
    },
    action: ({ preset, pattern }) => `install a hook for ${preset ?? pattern ?? 'nothing'}`,
    async request({ api, ownerFilter, headers, shell }, { preset, pattern, skill, ...rest }) {
      const named = defined({ hook_preset_id: preset, event_pattern: pattern, skill_slug: skill })
      return api.hooks.post({ ...named, ...(await settings(shell, rest)) }, { query: ownerFilter, headers })
    },
  }),
  command`update ID: Change the cooldown, the name or the config of a hook
  Settings that you do not name stay the same. To change the pattern or the skill, install another hook.
  $ hooks update ${ID} --cooldown 1h
  $ hooks update ${ID} -f config.json --json`({
    flags: changes,
    find: async (shell, { id: _, ...given }) => ({ patch: await settings(shell, given) }),
    action: ({ id, patch }) => `change ${Object.keys(patch).join(', ') || 'nothing'} of hook ${id}`,
    request: ({ api }, { id, patch }) => api.hooks({ id }).patch(patch),
  }),
  plain.enable,
  plain.disable,
  plain.remove,
  command`runs ID (pages executions): List the runs of a hook, newest first
  If an event did not run the skill, it shows why: the cooldown, the credit or the daily limit.
  $ hooks runs 5b1f0c7e-…
  $ hooks runs 5b1f0c7e-… --watch --json`({
    columns: runs,
    request: ({ api, page }, { id }) => api.hooks({ id }).executions.get({ query: page }),
    empty: 'No event has matched it yet.',
  }),
  command`match: List what an event with this name would trigger, without publishing it
  Lists hooks, workflows and webhooks whose pattern matches, even disabled ones. A hook that has just run is in its cooldown. A workflow with a filter also checks the data.
  $ hooks match order.created
  $ hooks match order.eu.paid --json`({
    columns: matchColumns,
    args: { type: argument('name of the event: words joined by dots') },
    async run(shell, { type }) {
      if (!isEventPattern(type) || type.includes('*')) {
        const fix = 'use lower-case words joined by dots, such as order.created'
        throw usageFailure(`"${type}" is not an event name.`, fix)
      }
      const now = shell.clock.now()
      const hooks = (await everyOf(await resourceOver(shell, 'hooks'))).map((hook): Match => {
        const { id, event_pattern, skill_slug, enabled, disabled_reason, last_fired_at, cooldown_minutes } = hook
        const until = last_fired_at === null ? 0 : Date.parse(last_fired_at) + cooldown_minutes * MINUTE_MS
        const rests = until > now ? `in cooldown until ${iso(until)}` : 'ready'
        const off = disabled_reason === null ? 'disabled' : `paused: ${disabled_reason}`
        return { kind: 'hook', id, pattern: event_pattern, does: skill_slug, state: enabled ? rests : off }
      })
      const workflows = (await everyOf(await resourceOver(shell, 'workflows'))).flatMap((workflow): Match[] => {
        const { id, name, triggerType, triggerConfig, enabled } = workflow
        const { eventPattern, filter } = triggerConfig as { eventPattern?: unknown; filter?: unknown }
        if (triggerType !== 'event' || typeof eventPattern !== 'string') return []
        const ready = filter === undefined ? 'ready' : `if ${String(filter)}`
        return [{ kind: 'workflow', id, pattern: eventPattern, does: name, state: enabled ? ready : 'disabled' }]
      })
      const webhooks = (await everyOf(await resourceOver(shell, 'webhooks'))).flatMap((webhook) => {
        const { id, url, event_types, enabled, disabled_reason } = webhook
        const state = enabled ? 'ready' : ['disabled', disabled_reason].filter((part) => part !== null).join(': ')
        return event_types.map((pattern): Match => ({ kind: 'webhook', id, pattern, does: url, state }))
      })
      const found = [...hooks, ...workflows, ...webhooks].filter(({ kind, pattern }) =>
        matchesPattern(pattern, type, { prefix: kind !== 'webhook' }),
      )
      shell.print.list(found, matchColumns, `Nothing listens for ${type}.`)
    },
  }),
]
