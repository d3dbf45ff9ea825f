import type * as words from '../../src/routing/schema'
import type { Correction } from '../../src/routing/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column, idColumn } from '../output/columns'
import { type PageQuery, printPages } from '../pages'
import { resourceOver } from '../resource'
import { everyOf, noteWarnings, resolveRuleSet } from '../rule-set'
import type { Shell } from '../shell'
import { argument, flag, text, whole } from '../words'
import { defaultVerbs } from './policies-default'
import { KEYS_STAY, resourceCommands } from './resource-commands'
import { PREFERENCE_ID, preferenceColumns } from './routing-columns'
import { previewRouting, testRouting } from './routing-test'

/** Repeated here, because importing them from the room would load the schema compiler even for `--help`. */
const THRESHOLD = 3 satisfies typeof words.THRESHOLD

const WINDOW_DAYS = 30 satisfies typeof words.WINDOW_DAYS

const suggested = [
  column('suggested_rule.pattern', 'PATTERN'),
  column('suggested_rule.target_mode', 'MODE'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('suggested_rule.description', 'WHY'),
  column('source_correction_ids', 'FROM', { kind: 'list' }),
]

const shared = { apis: ['tenant', 'operator'] } as const

const suggestRule = defineCommand({
  ...shared,
  path: 'routing suggest',
  summary: 'Suggest a rule for a mode from recent corrections',
  about:
    "Needs at least three corrections of the last 30 days. --apply adds the rule to the end of a preference. On the server's machine --org chooses whose corrections are used.",
  examples: ['routing suggest data_extraction', `routing suggest code --apply ${PREFERENCE_ID} --json`],
  impact: 'write',
  exits: [3],
  columns: suggested,
  args: { mode: argument('the mode that needs a rule') },
  flags: { apply: text('PREF', 'add the rule to this preference') },
  async run(shell, { mode, apply }) {
    const { api, ownerFilter } = await apiOf(shell)
    const input = { expected_mode: mode }
    const found = expectData(await api['routing-preferences']['suggest-rule'].post(input, { query: ownerFilter }))
    if (!apply) {
      shell.print.item(found, suggested)
      return noteWarnings(shell, found)
    }
    const preferences = await resourceOver(shell, 'routing-preferences')
    const { id, name, rules } = await preferences.get(await resolveRuleSet(preferences, apply, 'routing preference'))
    if (shell.planned(`add ${found.suggested_rule.pattern} to routing preference ${name}`)) return
    const made = await preferences.update(id, { rules: [...rules, found.suggested_rule] })
    shell.print.item(made, preferenceColumns)
    noteWarnings(shell, made)
  },
})

const clusterColumns = [
  column('mode', 'MODE'),
  column('corrections', 'CORRECTIONS', { kind: 'number' }),
  column('threshold', 'THRESHOLD', { kind: 'number' }),
  column('ready', 'READY', { kind: 'flag' }),
  column('newest', 'NEWEST', { kind: 'time' }),
  column('correction_ids', 'IDS', { kind: 'list', wide: true }),
]

const correctionColumns = [
  idColumn,
  column('expected_mode', 'EXPECTED'),
  column('resolved_mode', 'GOT'),
  column('prompt', 'PROMPT'),
  column('completion_id', 'COMPLETION', { wide: true }),
  column('note', 'NOTE', { wide: true }),
  column('created', 'WHEN', { kind: 'time' }),
]

const listCorrections = defineCommand({
  ...shared,
  path: 'routing corrections',
  summary: 'List the modes that callers corrected',
  about:
    'Counts the corrections of the last 30 days by mode, and shows how many a suggestion needs. With --mode it lists all corrections of that mode, newest first.',
  examples: ['routing corrections', 'routing corrections --mode code --all --json'],
  impact: 'read',
  exits: [3],
  columns: [...clusterColumns, ...correctionColumns],
  watchable: true,
  flags: {
    mode: text('MODE', 'corrections that expected this mode'),
    limit: whole('N', 'with --mode: how many at most; 50 by default', { min: 1, max: 100 }),
    cursor: text('CURSOR', 'with --mode: continue where an earlier list ended'),
    all: flag('with --mode: every page'),
  },
  async run(shell, { mode, ...paging }) {
    if (mode === undefined) return listClusters(shell)
    const page = (input: PageQuery) => correctionsOf(shell, { ...input, expected_mode: mode })
    await printPages(shell, paging, { page, columns: correctionColumns, empty: 'No corrections.' })
  },
})

/** Routing preferences (dx 2.10); also as `policies routing`. */
export const routingCommands = [
  ...resourceCommands({
    path: 'routing-preferences',
    resource: 'routing',
    what: 'routing preference',
    many: 'routing preferences',
    columns: preferenceColumns,
    id: PREFERENCE_ID,
    file: 'preference.yaml',
    arg: 'policy',
    stays: KEYS_STAY,
    bound: { flag: '--routing', holds: (key, id) => key.routing_preference_id === id },
  }),
  ...defaultVerbs('routing', PREFERENCE_ID),
  previewRouting,
  testRouting,
  suggestRule,
  listCorrections,
]

/** Lists the corrections that `suggest` would use (dx 2.10). */
async function listClusters(shell: Shell): Promise<void> {
  const since = shell.clock.now() - WINDOW_DAYS * 86_400_000
  const recent = (await everyOf({ list: ({ limit, cursor }) => recentPage(shell, since, limit, cursor) })).filter(
    ({ created }) => Date.parse(created) >= since,
  )
  const modes = [...new Set(recent.map(({ expected_mode }) => expected_mode))].sort()
  const clusters = modes.map((mode) => {
    const own = recent.filter(({ expected_mode }) => expected_mode === mode)
    const ready = own.length >= THRESHOLD
    const ids = own.map(({ id }) => id)
    const newest = own[0]!.created
    return { mode, corrections: own.length, threshold: THRESHOLD, ready, newest, correction_ids: ids }
  })
  shell.print.list(clusters, clusterColumns, `No corrections in the last ${WINDOW_DAYS} days.`)
}

/** Corrections come newest first, so the first old one ends the listing. */
async function recentPage(shell: Shell, since: number, limit: number, cursor: string | undefined) {
  const { items, next } = await correctionsOf(shell, { limit, ...(cursor ? { cursor } : {}) })
  const isOver = items.some(({ created }: Correction) => Date.parse(created) < since)
  return { items, next: isOver ? null : next }
}

async function correctionsOf(shell: Shell, query: PageQuery & { expected_mode?: string }) {
  const { api, ownerFilter } = await apiOf(shell)
  const found = expectData(await api['routing-corrections'].get({ query: { ...query, ...ownerFilter } }))
  return { items: found.routing_corrections, next: found.next_cursor }
}
