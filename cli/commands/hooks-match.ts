import { isEventPattern, matchesPattern } from '../../src/events/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument } from '../words'

const columns = [
  column('kind', 'KIND'),
  column('id', 'ID', { keep: true }),
  column('pattern', 'PATTERN'),
  column('does', 'DOES'),
  column('state', 'STATE'),
]
type Match = { kind: 'hook' | 'workflow' | 'webhook'; id: string; pattern: string; does: string; state: string }

const MINUTE_MS = 60_000

const matchHooks = defineCommand({
  apis: ['tenant', 'operator'],
  columns,
  path: 'hooks match',
  summary: 'List what an event with this name would trigger, without publishing it',
  about:
    'Lists hooks, workflows and webhooks whose pattern matches, even disabled ones. A hook that has just run is in its cooldown. A workflow with a filter also checks the data.',
  examples: ['hooks match order.created', 'hooks match order.eu.paid --json'],
  impact: 'read',
  exits: [3],
  args: { type: argument('name of the event: words joined by dots') },
  async run(shell, { type }) {
    if (!isEventPattern(type) || type.includes('*')) {
      throw usageFailure(
        `"${type}" is not an event name.`,
        'use lower-case words joined by dots, such as order.created',
      )
    }
    const all = [...(await hooks(shell)), ...(await workflows(shell)), ...(await webhooks(shell))]
    const found = all.filter(({ kind, pattern }) => matchesPattern(pattern, type, { prefix: kind !== 'webhook' }))
    shell.print.list(found, columns, `Nothing listens for ${type}.`)
  },
})

async function hooks(shell: Shell): Promise<Match[]> {
  const { api, ownerFilter } = await apiOf(shell)
  const now = shell.clock.now()
  const all = await everyPage(async (query) => {
    const { hooks, next_cursor } = expectData(await api.hooks.get({ query: { ...query, ...ownerFilter } }))
    return { items: hooks, next: next_cursor }
  })
  return all.map(({ id, event_pattern, skill_slug, enabled, disabled_reason, last_fired_at, cooldown_minutes }) => {
    const until = last_fired_at === null ? 0 : Date.parse(last_fired_at) + cooldown_minutes * MINUTE_MS
    const rests = until > now ? `in cooldown until ${new Date(until).toISOString()}` : 'ready'
    const off = disabled_reason === null ? 'disabled' : `paused: ${disabled_reason}`
    return { kind: 'hook', id, pattern: event_pattern, does: skill_slug, state: enabled ? rests : off }
  })
}

async function workflows(shell: Shell): Promise<Match[]> {
  const { api, ownerFilter } = await apiOf(shell)
  const all = await everyPage(async (query) => {
    const { workflows, next_cursor } = expectData(await api.workflows.get({ query: { ...query, ...ownerFilter } }))
    return { items: workflows, next: next_cursor }
  })
  return all.flatMap(({ id, name, triggerType, triggerConfig, enabled }) => {
    const { eventPattern, filter } = triggerConfig as { eventPattern?: unknown; filter?: unknown }
    if (triggerType !== 'event' || typeof eventPattern !== 'string') return []
    const ready = filter === undefined ? 'ready' : `if ${String(filter)}`
    return [{ kind: 'workflow', id, pattern: eventPattern, does: name, state: enabled ? ready : 'disabled' }]
  })
}

async function webhooks(shell: Shell): Promise<Match[]> {
  const { api, ownerFilter } = await apiOf(shell)
  const all = await everyPage(async (query) => {
    const { webhooks, next_cursor } = expectData(await api.webhooks.get({ query: { ...query, ...ownerFilter } }))
    return { items: webhooks, next: next_cursor }
  })
  return all.flatMap(({ id, url, event_types, enabled, disabled_reason }) =>
    event_types.map((pattern): Match => {
      const state = enabled ? 'ready' : `disabled${disabled_reason === null ? '' : `: ${disabled_reason}`}`
      return { kind: 'webhook', id, pattern, does: url, state }
    }),
  )
}

type Page<Item> = { items: readonly Item[]; next: string | null }

async function everyPage<Item>(read: (query: { limit: number; cursor?: string }) => Promise<Page<Item>>) {
  const all: Item[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page = await read({ limit: 100, ...(next === undefined ? {} : { cursor: next }) })
    all.push(...page.items)
    next = page.next
  }
  return all
}

export const hookMatchCommands = [matchHooks]
